# Drover: `make demo` shows the main job, `make test` tests it. Everything else is for people who change it.

GO           ?= go
CONTROLLERS  := api-gateway attach-controller disk-controller im-monitor orphan-controller snapshot-controller upgrade-controller
BINARIES     := $(CONTROLLERS) im-monitor/simulator kubectl-drover
CONTROLLER_GEN := $(GO) run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
BUILDIFIER   := $(GO) run github.com/bazelbuild/buildtools/buildifier@v0.0.0-20260904073137-eaa4d125b423
GOLANGCI_LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GAZELLE      := $(GO) run github.com/bazelbuild/bazel-gazelle/cmd/gazelle@v0.47.0
BAZEL        ?= tools/bazel/bazel
BENCH        ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-rest race test-image compiled quick properties nightly bazel-test bazel-digests bazel-install model conformance real csi-sanity claims ui-test faults rules rules-quick skew bench bench-check profile check lint drift generate build plugin images push charts dashboards build-files build-format controlplane manifests modules

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: controlplane ## once in a clone: modules, the control plane of the tests, and a hook that runs `make drift` before a push
	$(GO) mod download
	@printf '#!/bin/sh\nexec make --no-print-directory drift\n' > "$$(git rev-parse --git-path hooks)/pre-push" && chmod +x "$$(git rev-parse --git-path hooks)/pre-push"

demo: controlplane ## show the main job, on a real API server; DEMO_FLAGS=--keep leaves it running to explore it
	@mkdir -p bin
	@echo "building the demo; from an empty cache that takes two minutes"
	@$(GO) build -o bin/demo ./e2e/demo
	@trap : INT; bin/demo $(DEMO_FLAGS) || [ $$? -eq 130 ] # 130: Ctrl-C

# Tests mostly wait for controllers, so that more run side by side than there are processors: packages, and tests of one package.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
RUNTESTS = $(GO) -C tools/runtests run . -root ../.. -p $$(($(PROCESSORS) * 3))

test: compiled ## every package on its own and the main scenarios, on a real API server; docs/tests.md lists what test-all has beside them
	$(RUNTESTS) -set fast

test-all: compiled ## every test
	$(RUNTESTS) -set all

test-rest: compiled ## the packages of which "make test" leaves out tests, whole
	$(RUNTESTS) -set rest

# The packages that all test binaries share are compiled before the tests run: side by side each module would compile them for itself.
compiled: controlplane
	@$(GO) run ./e2e/cluster build --controller-manager --snapshotter
	@echo "compiling; from an empty cache that takes some minutes"
	@$(GO) build $$($(GO) list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./...)

quick: controlplane ## tests without a control plane, and one volume's lifecycle: for each save; 41 s after a change in the volume machine
	GO=$(GO) tools/quick.sh

# A property that fails once in ten thousand draws would fail in the tests of an unrelated change; this target finds it earlier.
properties: ## the property tests, with 10,000 random worlds each: a few minutes
	$(GO) test -count=1 $$(grep -rl pgregory.net/rapid --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -v -e '^./e2e/' -e snapshotcontroller) \
		-rapid.checks=$(or $(DRAWS),10000)

# One package at a time: the race detector takes five to ten times the memory.
race: controlplane ## every test under the race detector, which needs a C compiler: an hour or more; PACKAGES=./shared/runkit runs some alone
	CGO_ENABLED=1 $(GO) test -race -count=1 -p 1 -timeout 4h $(or $(PACKAGES),./...)

nightly: ## the end-to-end tests with all times as in a cluster, then mixed versions, for hours; PACKAGES=./e2e/disks runs some alone
	@$(GO) run ./e2e/cluster build --controller-manager --snapshotter
	DROVER_TIME_FACTOR=1 $(GO) test -count=1 -p 1 -timeout 10h \
		$(or $(PACKAGES),./e2e/scenarios ./e2e/attach ./e2e/disks ./e2e/snapshot/... ./e2e/upgrade/...)
	$(if $(PACKAGES),,$(MAKE) skew)

bazel-test: bazel-install ## every test under Bazel; BAZEL=bazel where the Central Registry can be reached
	$(BAZEL) test //... --curses=no --show_progress_rate_limit=15 $(BAZEL_FLAGS)

bazel-digests: bazel-install ## digests of each binary: change one controller, and check that the other binaries stay the same
	BAZEL=$(BAZEL) BAZEL_FLAGS="$(BAZEL_FLAGS)" tools/bazel/digests.sh

bazel-install:
	@[ "$(BAZEL)" != tools/bazel/bazel ] || tools/bazel/install.sh

model: ## the attach rules against 100,000 random worlds, the upgrade's against 15,000: repetitions of what `make test` runs with few
	$(GO) test -timeout 60m ./attach-controller/internal/model -worlds 100000
	$(GO) test -timeout 60m ./upgrade-controller/internal/model -worlds 15000

conformance: ## black-box checks of the simulator, or of real instance managers: TARGET=host (v1) V2=host CONFORMANCE_FLAGS=…
ifeq ($(TARGET)$(V2),)
	@mkdir -p bin
	$(GO) build -o bin/simulator ./im-monitor/simulator
	$(GO) run ./im-monitor/conformance --simulator bin/simulator $(CONFORMANCE_FLAGS)
else
	$(GO) run ./im-monitor/conformance $(if $(TARGET),--v1 $(TARGET)) $(if $(V2),--v2 $(V2)) $(if $(TARGET2),--v1-second $(TARGET2)) \
		$(if $(V2_SECOND),--v2-second $(V2_SECOND)) $(CONFORMANCE_FLAGS)
endif

test-image: ## the arguments of pods against the scripts of an unpacked image: IMAGE_ROOT=directory IMAGE=reference; see docs/real-servers.md
	@[ -d '$(IMAGE_ROOT)' ] && [ -n '$(IMAGE)' ] || { echo "name an unpacked image: make test-image IMAGE_ROOT=directory IMAGE=reference"; exit 2; }
	$(GO) test -count=1 ./shared/managerimage -image-root='$(abspath $(IMAGE_ROOT))' -image='$(IMAGE)'

real: ## the end-to-end scenarios on real instance managers: INSTANCE_MANAGER=path ENGINE=path, as root; see docs/real-servers.md
	@mkdir -p bin
	@$(GO) build -o bin/real ./e2e/real
	@bin/real --check --instance-manager='$(INSTANCE_MANAGER)' --engine='$(ENGINE)' --scenarios='$(SCENARIOS)'
	@$(MAKE) --no-print-directory controlplane
	@$(GO) run ./e2e/cluster build --controller-manager --snapshotter
	@trap : INT; bin/real $(REAL_FLAGS) --instance-manager='$(INSTANCE_MANAGER)' --engine='$(ENGINE)' --spdk-target='$(SPDK_TARGET)' --scenarios='$(SCENARIOS)'

csi-sanity: controlplane ## the official CSI sanity suite on Longhorn's CSI plugin: CSI_PLUGIN=path of longhorn-manager, as root; CSI_SKIP and CSI_FOCUS are expressions
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin $(GO) install github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity@v5.6.0
	$(GO) build -o bin/csisanity ./e2e/csisanity
	bin/csisanity --plugin=$(CSI_PLUGIN) --sanity=bin/csi-sanity --skip='$(CSI_SKIP)' --focus='$(CSI_FOCUS)'

claims: ## a claim's whole life with Kubernetes' own sidecars and Longhorn's CSI plugin, as root: CSI_PLUGIN=path CSI_PROVISIONER=path CSI_RESIZER=path
	@[ -x '$(CSI_PLUGIN)' ] && [ -x '$(CSI_PROVISIONER)' ] && [ -x '$(CSI_RESIZER)' ] || \
		{ echo "name three programs: make claims CSI_PLUGIN=path CSI_PROVISIONER=path CSI_RESIZER=path; see docs/real-servers.md"; exit 2; }
	@$(GO) run ./e2e/cluster build --controller-manager --snapshotter
	@mkdir -p bin
	$(GO) -C e2e/claims build -o ../../bin/claims .
	bin/claims --plugin='$(CSI_PLUGIN)' --provisioner='$(CSI_PROVISIONER)' --resizer='$(CSI_RESIZER)'

ui-test: ## Longhorn's web interface in Chromium: UI=path of its built files; SCREENSHOTS=directory keeps a picture of each step; UI_FLAGS=--keep only serves it
	@[ -f '$(UI)/index.html' ] || { echo "name the built files of Longhorn's web interface: make ui-test UI=path/to/longhorn-ui/dist; see docs/real-servers.md"; exit 2; }
	@$(MAKE) --no-print-directory controlplane
	@mkdir -p bin
	$(GO) -C e2e/ui build -o ../../bin/ui .
	bin/ui --files='$(UI)' --screenshots='$(SCREENSHOTS)' $(UI_FLAGS)

faults: controlplane ## kill a controller before and after each write and call; all points
	$(GO) run ./e2e/faults

rules: controlplane ## leave one rule out after the other: a test must fail
	$(GO) run ./e2e/faults --rules=all

rules-quick: ## the same for the rules of attaching, each with the tests of its own package: no control plane, about two minutes
	$(GO) run ./e2e/faults --rules=first --actor=attach-controller

skew: controlplane ## controllers and definitions of an earlier commit together with the current ones
	$(GO) run ./e2e/skew

bench: controlplane ## measure; BENCH=orphan|attach|snapshot|upgrade|quiet|scale|faults|failover|idle|plugin|crowd|gateway runs one group
	$(GO) run ./e2e/bench $(if $(BENCH),--group $(BENCH)) --record docs/performance.json --page docs/performance.md $(BENCH_FLAGS)

bench-check: controlplane ## measure, and fail where a figure is more than 20 % worse than those in docs/performance.md
	$(GO) run ./e2e/bench $(if $(BENCH),--group $(BENCH)) --check docs/performance.json $(BENCH_FLAGS)

profile: controlplane ## where the controllers' processor time and memory goes while nothing happens, into bin/profiles; drawn where graphviz is
	@mkdir -p bin
	$(GO) run ./e2e/bench --group idle --profiles bin/profiles
	GO=$(GO) tools/profiles.sh bin/profiles

controlplane: ## etcd and kube-apiserver: found, downloaded, or built once into the cache
	@echo "searching for etcd and kube-apiserver"
	@found=$$($(GO) run ./e2e/cluster build) && echo "found in $$found"

# With its page of traces, which nothing here serves, gRPC keeps every exported method of a program: 40 of 98 MB of im-monitor, and a third of
# its resident memory.
build: ## static binaries into bin/
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags=grpcnotrace -o bin/ $(addprefix ./,$(BINARIES))

images: ## container images into bin/images: an OCI layout for each controller and the plugin, for amd64 and arm64, with SBOMs; prints digests
	$(GO) -C tools/images run . build --root ../.. --out ../../bin/images $(CONTROLLERS) kubectl-drover

push: ## push the images of `make images`: REGISTRY=registry.example.com/drover; FORCE=1 replaces tags
	$(GO) -C tools/images run . push --out ../../bin/images $(if $(FORCE),--force) $(or $(REGISTRY),$(error REGISTRY is where the images go, such as registry.example.com/drover))

plugin: ## kubectl drover alone, into bin/
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o bin/ ./kubectl-drover

dashboards: ## docs/dashboards: the dashboards for Grafana that the charts have, from tools/monitoring
	$(GO) -C tools/monitoring run . ../../docs/dashboards

charts: ## <controller>/deploy from the charts, and archives of the charts into bin/charts
	$(GO) -C tools/charts run . render
	$(GO) -C tools/charts run . package ../../bin/charts

generate: manifests dashboards charts build-files build-format ## generated code, CRDs, roles, plain manifests and BUILD files
	tools/use_repo.sh

build-files:
	$(GAZELLE) update $(shell $(GO) list -m -f '{{if not .Indirect}}-known_import={{.Path}}{{end}}' all | grep -v ^-known_import=drover.dev)

build-format:
	$(BUILDIFIER) -mode=fix -r .

modules: # tools/charts, tools/monitoring, e2e/claims, e2e/guides and e2e/ui use this module's go.mod too
	$(GO) mod tidy
	$(GO) -C tools/images mod tidy
	$(GO) -C tools/charts mod tidy
	$(GO) -C tools/monitoring mod tidy
	$(GO) -C tools/runtests mod tidy
	$(GO) -C e2e/claims mod tidy
	$(GO) -C e2e/guides mod tidy
	$(GO) -C e2e/ui mod tidy

manifests:
	$(GO) generate ./shared/... ./im-monitor/...
	$(foreach c,$(CONTROLLERS),$(CONTROLLER_GEN) rbac:roleName=drover-$(c) paths=./$(c)/... paths=./shared/runkit output:rbac:dir=$(c)/deploy &&) true
	$(GO) run ./e2e/tokens
	$(GO) run ./e2e/faults --page docs/rules.md
	$(GO) run ./kubectl-drover/docgen
	$(GO) run ./shared/setting/docgen

drift: ## formatting, generated files, BUILD files, go.mod: fails on a difference and prints how to fix it
	@tools/check.sh

lint: ## the linters of .golangci.yml; the first run builds them, some minutes
	$(GOLANGCI_LINT) run ./...

check: drift ## the same, vet and every test
	$(GO) vet ./...
	@$(MAKE) --no-print-directory test-all
