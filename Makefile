# Penstock. `make` lists what there is.
# Copyright The Penstock Authors. SPDX-License-Identifier: Apache-2.0

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
TOOL := go tool -modfile=go.tool.mod
# Packages under test: everything but the tests that need a whole cluster.
TEST_PACKAGES ?= $(shell go list ./... | grep -v /test/e2e)
LIMIT ?= 10
REQUESTS ?= 15
# Where `make deploy` finds the images, and under which tag.
IMAGE_PREFIX ?= penstock.local
IMAGE_TAG ?= dev

.PHONY: help
help: ## Show what can be made.
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make TARGET"} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ See it work

.PHONY: demo
demo: controlplane build ## Show the whole path on this machine: two replicas, one limit (LIMIT=10 REQUESTS=15).
	$(GO_BUILD) -o bin/demo/ ./test/echo
	go run ./hack/demo --limit=$(LIMIT) --requests=$(REQUESTS)

##@ Build

.PHONY: build
build: ## Build the programs into bin/.
	$(GO_BUILD) -o bin/ ./cmd/...

.PHONY: generate
generate: ## Write generated code, CRDs and roles anew.
	$(TOOL) controller-gen object paths=./api/...
	$(TOOL) controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	$(TOOL) controller-gen rbac:roleName=manager paths="{./controllers/...,./internal/webhook/...}" output:rbac:dir=config/rbac

.PHONY: images
images: ## Build the container images into bin/images, without Docker.
	if [ "$$(id -u)" = 0 ]; then go run ./hack/cluster packages; fi
	VERSION=$(VERSION) go -C hack/images run .

##@ Check

.PHONY: test
test: controlplane redis-server http-programs ## Run every test but the real-cluster ones.
	go -C hack/images test ./...
	go -C hack/bench test ./...
	go run ./hack/testrun $(TEST_PACKAGES)

.PHONY: test-limiter
test-limiter: redis-server ## Compare every algorithm on every kind of store with exact models, and histories of many processes.
	go test -C internal/limiter -count=1 -timeout=50m -parallel=10 -run='^TestStoresAgreeWithTheModel$$' \
		-rapid.checks=1300 -limiter.steps=26 -limiter.decisions=50000
	go test -C test/history -count=1 -timeout=30m -history.decisions=50000 -history.leased=75s

.PHONY: test-proxy
test-proxy: redis-server http-programs ## Run the tables of cases of the request path, and count them.
	go run ./hack/testrun -proxy-suites

.PHONY: fuzz
fuzz: ## Run every fuzz target for a moment, all in about a minute (FUZZ_FLAGS="-seconds 600").
	go run ./hack/fuzz $(FUZZ_FLAGS)

.PHONY: e2e
e2e: ## Run the tests on a real cluster: the local one, or E2E_KUBECONFIG with E2E_IMAGES.
	hack/e2e.sh

.PHONY: mutate
mutate: controlplane redis-server ## Seed faults one at a time and show which test catches each.
	go run ./hack/mutate

.PHONY: test-faults
test-faults: redis-server ## Show what the limiter does in each fault of its store, beside what is expected.
	go test -C test/faults -count=1 -timeout=10m

.PHONY: bench
bench: redis-server ## Run the benchmarks, each beside what a user would run instead.
	go test -run='^$$' -bench=. -benchmem ./internal/...

.PHONY: bench-limiter
bench-limiter: redis-server ## Measure the limiter beside libraries, about 5 minutes (BENCH_FLAGS="-markdown ../../docs/performance.md").
	go -C hack/bench run . $(BENCH_FLAGS)

.PHONY: bench-proxy
bench-proxy: redis-server http-programs ## Measure the request path beside other proxies, about 3 minutes (BENCH_FLAGS="-markdown ../../docs/performance.md").
	go -C hack/bench run . -proxy $(BENCH_FLAGS)

.PHONY: profile
profile: redis-server http-programs ## Renew the profile that the compiler optimises the sidecar by, after changes of the request path.
	go -C hack/bench run . -proxy -seconds 4 -rounds 2 -profile ../../cmd/sidecar/default.pgo -only \
		"sidecar without rules,sidecar with one exact rule on Redis,sidecar with ten exact rules on Redis,sidecar over the limit,sidecar with a Leased rule,sidecar with one rule in memory"

.PHONY: lint
lint: bin/golangci-lint ## Run the linters.
	bin/golangci-lint run ./...

.PHONY: verify
verify: ## Check that generated files are current and modules are tidy.
	hack/verify.sh

##@ A cluster

.PHONY: cluster
cluster: images ## Start the local single-node cluster (root on Linux).
	go run ./hack/cluster up

.PHONY: cluster-down
cluster-down: ## Stop the local cluster and remove all of it.
	go run ./hack/cluster down

.PHONY: deploy
deploy: ## Install on the cluster that kubectl points at, with the built images.
	hack/deploy.sh apply $(IMAGE_PREFIX) $(IMAGE_TAG)

.PHONY: undeploy
undeploy: ## Remove the installation from the cluster that kubectl points at.
	hack/deploy.sh delete $(IMAGE_PREFIX) $(IMAGE_TAG)

##@ What the others need

.PHONY: controlplane
controlplane: ## Build kube-apiserver, etcd and kubectl into bin/controlplane.
	go run ./hack/controlplane

.PHONY: redis-server
redis-server: ## Have a redis-server for tests (installed when root on Debian).
	hack/redis-server.sh

.PHONY: http-programs
http-programs: ## Have nginx, node, curl, nghttp and h2load for tests and benchmarks (installed when root on Debian).
	hack/http-programs.sh

bin/golangci-lint: hack/lint/go.mod
	CGO_ENABLED=0 go build -C hack/lint -trimpath -ldflags "-s -w" -o $(CURDIR)/$@ sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter
