#!/usr/bin/env bash
# Waits until a SecretContract is satisfied for its current generation, and reads no Secret. It asks for a new look by itself, so that an
# answer of before, such as one of a provider that has stopped since, is never taken for one of now.
#
# Usage: wait-for-contract.sh NAMESPACE NAME [SECONDS]
# Exit codes: 0 satisfied, 1 not satisfied in time, 2 wrong usage or no access.
set -euo pipefail

if [ $# -lt 2 ]; then
	echo "usage: $0 NAMESPACE NAME [SECONDS]" >&2
	exit 2
fi
namespace=$1 name=$2 timeout=${3:-120}
request="gate-$(date +%s)-$$"
end=$((SECONDS + timeout))

kubectl -n "$namespace" patch secretcontracts.terdut.ryuvia.com "$name" --type=merge -p "{\"spec\":{\"checkRequest\":\"$request\"}}" >/dev/null || exit 2

# One line: generation, generation and request of the answer, then status and reason of the verdict.
fields='{.metadata.generation} {.status.observedGeneration} {.status.checkRequest} {range .status.conditions[?(@.type=="Satisfied")]}{.status} {.reason}{end}'
verdict=none
while [ $SECONDS -lt $end ]; do
	read -r generation answered asked status reason <<<"$(kubectl -n "$namespace" get secretcontracts.terdut.ryuvia.com "$name" -o jsonpath="$fields")" || exit 2
	if [ "$answered" = "$generation" ] && [ "$asked" = "$request" ]; then
		verdict="$status $reason"
		if [ "$status" = True ]; then
			echo "contract $namespace/$name is satisfied"
			exit 0
		fi
	fi
	sleep 1
done
echo "contract $namespace/$name is not satisfied: $verdict" >&2
exit 1
