# Everything here needs Go, make and git, and nothing else that is not built from Go modules.
# `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# One way to compile everything, so that builds and tests share their cache.
export CGO_ENABLED ?= 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
CYCLONEDX := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
IMAGE ?= olmgate:$(VERSION)
# What the image is made for.
ARCHITECTURES := amd64 arm64 ppc64le s390x
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 60s
# Packages whose tests need no control plane.
UNIT := $(shell go list ./... 2>/dev/null | grep -v '/e2e\(/\|$$\)')
# Modules of their own, beside the main one.
MODULES := bench check/report/schematest e2e/tools/regtool manifests/charttest manifests/gitops/gitopstest

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/olmgate
	go build -ldflags '$(LDFLAGS)' -o bin/olmgate ./cmd/olmgate

.PHONY: cross
cross: ## Build for every architecture that the image is made for
	for arch in $(ARCHITECTURES); do GOOS=linux GOARCH=$$arch go build -trimpath -ldflags '$(LDFLAGS)' -o bin/olmgate-linux-$$arch ./cmd/olmgate; done

.PHONY: image
image: ## Build the container image IMAGE (needs docker with buildx, or podman as DOCKER)
	$(or $(DOCKER),docker) build --build-arg VERSION=$(VERSION) --tag $(IMAGE) .

.PHONY: sbom
sbom: ## Write the software bill of materials, bin/olmgate.cdx.json (CycloneDX)
	@mkdir -p bin
	go run $(CYCLONEDX) app -json -licenses -main cmd/olmgate -output bin/olmgate.cdx.json .

.PHONY: demo
demo: build ## Start a local control plane with the webhook and show what it answers (KEEP=1 leaves it running)
	go run ./e2e/tools/build >/dev/null
	go run ./e2e/demo -olmgate bin/olmgate $(if $(KEEP),-keep)

.PHONY: test
test: ## Run all tests, those against a real control plane included
	go run ./e2e/tools/build >/dev/null
	go test -timeout 40m ./...
	cd bench && go test ./...
	cd check/report/schematest && go test ./...
	cd manifests/charttest && go test ./...
	cd manifests/gitops/gitopstest && go test ./...

.PHONY: unit
unit: ## Run the tests that need no control plane
	go test $(UNIT)

.PHONY: browser
browser: ## Look at the HTML report in a real browser (needs Chromium); the screenshots are in bin/browser
	@mkdir -p bin/browser
	OLMGATE_BROWSER_REQUIRED=1 OLMGATE_BROWSER_DIR=$(CURDIR)/bin/browser go test -count=1 -run TestInABrowser -v ./check/report

.PHONY: race
race: ## Run the tests that need no control plane with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race $(UNIT)

.PHONY: e2e
e2e: ## Run the tests against a real control plane
	go run ./e2e/tools/build >/dev/null
	OLMGATE_E2E_REQUIRED=1 go test -count=1 -timeout 40m ./e2e/...

.PHONY: e2e-rotation
e2e-rotation: ## Change serving certificates in every way under a load of requests, of which none may fail
	go run ./e2e/tools/build >/dev/null
	@mkdir -p bin
	OLMGATE_E2E_ROTATION=1 OLMGATE_E2E_REQUIRED=1 go test -count=1 -v -timeout 20m ./e2e/rotation | tee bin/e2e-rotation.log
	@grep '^requests=' bin/e2e-rotation.log

.PHONY: e2e-status
e2e-status: ## Change catalogs under 300 extensions, beside another controller and while servers fail, and compare every condition
	go run ./e2e/tools/build >/dev/null
	@mkdir -p bin
	OLMGATE_E2E_STATUS=1 OLMGATE_E2E_REQUIRED=1 go test -count=1 -v -timeout 30m ./e2e/status | tee bin/e2e-status.log
	@grep '^extensions=' bin/e2e-status.log

.PHONY: e2e-node
e2e-node: ## Run olmgate in Pods on a real node (needs root and apt)
	go run ./e2e/tools/build >/dev/null
	go run ./e2e/tools/build -node >/dev/null
	OLMGATE_E2E_NODE=1 OLMGATE_E2E_REQUIRED=1 go test -count=1 -v -timeout 20m ./e2e/node

.PHONY: lint
lint: ## Run go vet and golangci-lint
	go vet ./...
	go run $(GOLANGCI_LINT) run ./...
	cd bench && go vet ./...
	cd check/report/schematest && go vet ./...
	cd manifests/charttest && go vet ./...
	cd manifests/gitops/gitopstest && go vet ./...

.PHONY: verify
verify: ## Check that generated files and go.mod are up to date and the code is formatted
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not formatted: $$out"; exit 1; }
	go mod tidy -diff
	for m in $(MODULES); do (cd $$m && go mod tidy -diff); done
	go mod verify
	go test ./docs ./config ./manifests ./webhook ./cmd/... -run 'Golden|Docs|Document|Reason|Link|Render' >/dev/null
	@[ -z "$$(git status --porcelain)" ] || { git status --short; echo "the tree is not clean"; exit 1; }

.PHONY: bench
bench: ## Measure against peers in the same run; writes bench/results.json (needs the real catalogs)
	$(MAKE) build
	go run ./e2e/tools/build >/dev/null
	cd bench && go run ./run -olmgate ../bin/olmgate -out results.json

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$pkg/*_test.go | sed 's/^func //'); do \
			echo "== $$pkg $$f"; \
			case $$pkg in ./bench*) (cd bench && go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$${pkg#./bench});; \
			*) go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg;; esac; \
		done; \
	done
