#!/usr/bin/env bash
# Waits until a SecretContract is satisfied for its current generation, and reads no Secret. It asks for a new look by itself, so that an
# answer of before, such as one of a provider that has stopped since, is never taken for one of now. A contract that is changed or made anew
# in the meantime is another one than the one that was to be waited for.
#
# Usage: wait-for-contract.sh NAMESPACE NAME [SECONDS]
# Exit codes: 0 satisfied, 1 not satisfied in time, or changed, 2 wrong usage or no access.
set -euo pipefail

if [ $# -lt 2 ]; then
	echo "usage: $0 NAMESPACE NAME [SECONDS]" >&2
	exit 2
fi
namespace=$1 name=$2 timeout=${3:-120}
request="gate-$(date +%s)-$$-$RANDOM$RANDOM"
end=$((SECONDS + timeout))

# One line of generation and request, generation and request of the answer, and status and reason of the verdict; then what must not change:
# the uid and the spec, without the request and without what Crossplane keeps in it, which also counts as a generation.
template='{{.metadata.generation}} {{or .spec.checkRequest "-"}} {{with .status}}{{or .observedGeneration "-"}} {{or .checkRequest "-"}} {{range .conditions}}{{if eq .type "Satisfied"}}{{.status}} {{.reason}}{{end}}{{end}}{{end}}
{{.metadata.uid}}{{range $field, $value := .spec}}{{if not (eq $field "checkRequest" "crossplane" "resourceRef" "compositionRef" "compositionRevisionRef" "compositionSelector" "compositionRevisionSelector" "compositionUpdatePolicy" "compositeDeletePolicy")}} {{$field}}={{$value}}{{end}}{{end}}'
contract() { kubectl -n "$namespace" "$1" secretcontracts.terdut.ryuvia.com "$name" -o go-template="$template" "${@:2}"; }

now=$(contract patch --type=merge -p "{\"spec\":{\"checkRequest\":\"$request\"}}") || exit 2
asked_of=${now#*$'\n'}
asked_at=${now%% *}
verdict=none
while [ $SECONDS -lt $end ]; do
	now=$(contract get) || exit 2
	if [ "${now#*$'\n'}" != "$asked_of" ]; then
		echo "contract $namespace/$name was changed while it was waited for" >&2
		exit 1
	fi
	read -r generation wanted answered asked status reason <<<"${now%%$'\n'*}"
	# What another gate has asked since counts here as well: the contract's generation says that it came later.
	if [[ $wanted != gate-* ]]; then
		echo "contract $namespace/$name was changed while it was waited for: checkRequest was set by something else" >&2
		exit 1
	fi
	if [ "$answered" = "$generation" ] && [ "$generation" -ge "$asked_at" ] && [ "$asked" = "$wanted" ]; then
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
