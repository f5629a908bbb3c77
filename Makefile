# arrowmask: hash and mask columns of Arrow data.
# `make demo` and `make test` need only Go. Heavier targets install what they
# need and say what could not be had.

GO      ?= go
BIN     := bin/arrowmask
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

.DELETE_ON_ERROR:
.PHONY: help build demo test test-race test-purego test-386 test-emulated test-interop test-big lint fuzz-short kat gen gen-check bench-kernels bench-kernels-quick bench-rewrite bench bench-quick test-bench capi wheel test-engines clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 22

build: ## build bin/arrowmask
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/arrowmask

demo: build ## mask the sample customers and show before and after
	@scripts/demo.sh $(BIN)

test: ## every test that needs only Go
	$(GO) test ./...

test-race: ## the packages with goroutines under the race detector (needs a C compiler)
	$(GO) test -race -short ./kernels/... ./hexenc/... ./internal/asciimask/... ./internal/blake2b/... ./mask/... ./arrowudf/... ./policy/...

test-purego: ## the same tests without assembly, as a machine of another kind runs them
	$(GO) test -short -tags 'purego noasm' ./kernels/... ./hexenc/... ./internal/asciimask/... ./internal/blake2b/... ./mask/...

test-386: ## the same where an int has 32 bits
	GOARCH=386 CGO_ENABLED=0 $(GO) test -short ./kernels/... ./hexenc/... ./internal/asciimask/... ./internal/blake2b/... ./fips/... ./mask/...

test-emulated: ## the same on arm64 and on older x86-64, under QEMU (installs it)
	@scripts/test-emulated.sh

test-interop: build ## read what arrowmask writes with pyarrow and polars, and the reverse (installs them)
	@scripts/interop/run.sh $(BIN)

test-big: build ## mask a 2 GB Parquet file and check that memory stays under 1 GiB
	ARROWMASK_BIG=1 $(GO) test -count=1 -timeout 20m -v -run 'TestMemory' ./cmd/arrowmask

kat: build ## the known answers on every backend
	$(BIN) kat

lint: ## gofmt, go vet on every architecture built, staticcheck
	@scripts/lint.sh

fuzz-short: ## every fuzz target for a few seconds
	@scripts/fuzz-short.sh

gen: ## write the generated assembly afresh from _asm/
	_asm/gen.sh

gen-check: ## prove that the generated files are what the generator writes
	_asm/check.sh

bench-kernels: build ## time every digest, row length and batch size (long)
	$(BIN) bench --all

bench-kernels-quick: build ## the same for the cells that matter most, under a minute
	$(BIN) bench

bench-rewrite: build ## mask columns of a Parquet file beside DuckDB doing the same (installs it)
	@scripts/bench-rewrite.sh $(BIN)

bench: ## arrowmask beside every rival, and a report: about 15 minutes (installs them)
	@bench/run.sh

bench-quick: ## the cells that matter most, under a minute, needs only Go
	cd bench && $(GO) run . quick

test-bench: ## the tests of what measures
	cd bench && $(GO) test -short ./...

capi: ## build the C library, which is a DuckDB extension too, and its header: out/ (needs a C compiler)
	@scripts/capi.sh

wheel: ## build the Python package with the library inside
	@scripts/wheel.sh

test-engines: build ## the C library and the Python package in every engine (installs them)
	@scripts/engines/run.sh $(BIN)

clean: ## remove what was built
	rm -rf bin out
