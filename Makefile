# Drover: `make demo` shows the main job, `make test` runs every test. Everything else is for people who change it.

GO           ?= go
CONTROLLERS  := attach-controller im-monitor orphan-controller snapshot-controller upgrade-controller
BINARIES     := $(CONTROLLERS) im-monitor/simulator
CONTROLLER_GEN := $(GO) run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
GAZELLE      := $(GO) run github.com/bazelbuild/bazel-gazelle/cmd/gazelle@v0.47.0
BENCH        ?=

.DEFAULT_GOAL := help
.PHONY: help demo test model faults skew bench check generate build controlplane manifests

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: controlplane ## the main job, on a real API server
	$(GO) run ./e2e/demo $(DEMO_FLAGS)

test: ## every test, on a real API server
	@$(GO) run ./e2e/cluster build --controller-manager
	$(GO) test -timeout 30m ./...

model: ## the attach rules against 100,000 random worlds, and each of them left out
	$(GO) test -timeout 60m ./attach-controller/internal/model -worlds 100000

faults: controlplane ## kill a controller before and after each write and call; all points
	$(GO) run ./e2e/faults

skew: controlplane ## controllers and definitions of an earlier commit beside those of now
	$(GO) run ./e2e/skew

bench: controlplane ## measure; BENCH=orphan|attach|quiet|scale|faults|failover runs one group
	$(GO) run ./e2e/bench $(if $(BENCH),--group $(BENCH))

controlplane: ## etcd and kube-apiserver: found, downloaded, or built once into the cache
	@$(GO) run ./e2e/cluster build

build: ## static binaries into bin/
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o bin/ $(addprefix ./,$(BINARIES))

generate: manifests ## generated code, CRDs, roles and BUILD files
	$(GAZELLE) update $(shell $(GO) list -m -f '{{if not .Indirect}}-known_import={{.Path}}{{end}}' all | grep -v ^-known_import=drover.dev)

manifests:
	$(GO) generate ./shared/... ./im-monitor/...
	$(foreach c,$(CONTROLLERS),$(CONTROLLER_GEN) rbac:roleName=$(c) paths=./$(c)/... paths=./shared/runkit output:rbac:dir=$(c)/deploy &&) true

check: ## formatting, generated files, vet, tests: fails on a difference and says how to mend it
	@tools/check.sh
