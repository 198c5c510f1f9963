# Every command of the project. Each does all its own set-up; the toolchain is built once and kept in the user's cache folder.

GO ?= go

# One set of build flags for packages, tests and commands, so that Kubernetes' client code is compiled once and not three times.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# What needs no external process.
UNIT := $(shell $(GO) list ./... 2>/dev/null | grep -vE '/cluster/|/test/|/internal/clients/(openbao|postgresql)$$')

.DEFAULT_GOAL := help

##@ Main

.PHONY: run
run: ## Start everything locally, apply the examples, show what to look at; Ctrl-C stops it
	$(GO) run ./cluster/local/cmd/run

.PHONY: test
test: ## Run every test
	@ls /usr/lib/postgresql/*/bin/psql >/dev/null 2>&1 || command -v psql >/dev/null || echo "NOT TESTED HERE: that URIs log in with libpq (TestH13URI), which takes psql: install postgresql-client." >&2
	$(GO) test -timeout 90m -p 2 ./test/e2e ./... # What takes longest begins first, and on a new machine it first builds its tools.

.PHONY: unit
unit: ## Run the tests that need no external process
	$(GO) test -timeout 10m $(UNIT)

.PHONY: e2e
e2e: ## Run the end-to-end tests; RUN=regexp selects some
	$(GO) test -timeout 60m -count=1 -v -run '$(or $(RUN),.)' ./test/e2e/...

.PHONY: render
render: ## Render an example without a cluster: EXAMPLE=tenant
	$(GO) run ./cluster/local/cmd/render $(or $(EXAMPLE),tenant)

.PHONY: bench
bench: ## Measure and print one table; ARGS="--part events" measures a part
	$(GO) run ./test/bench $(ARGS)

.PHONY: faults
faults: ## Let something go wrong at each external write of a Tenant's life; takes half an hour
	$(GO) run ./test/faults

##@ Development

.PHONY: generate
generate: ## Write all generated code anew
	$(GO) generate ./apis/...

.PHONY: check
check: ## Format, vet, lint, tidy and generated files are clean
	./hack/check

.PHONY: recipe
recipe: ## Add one more kind in a worktree, as docs/adding-a-kind.md tells, check and test it, and take it out again; takes minutes
	./hack/recipe $(ARGS)

.PHONY: package
package: ## Build provider, functions and configurations as .xpkg in _output/
	$(GO) run ./cluster/images/cmd/package -o _output

.PHONY: release
release: ## Build all files of a release into _output/release/VERSION; REGISTRY=host/path when clusters pull from a mirror
	$(GO) run ./cluster/release/cmd/release $(if $(REGISTRY),--registry=$(REGISTRY)) $(ARGS)

.PHONY: help
help: ## Show this
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
