# The one entry: `make check test bench fuzz`. Continuous integration calls the same targets.

.DEFAULT_GOAL := help
CARGO ?= cargo
FUZZ_SECONDS ?= 60

.PHONY: help check test bench bench-quick report kernels fuzz soak soak-stream deny clean

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: deny ## Format, lints, documentation, imports, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	python3 scripts/check_imports.py

deny: ## Licences, duplicate and unwanted dependencies
	@command -v cargo-deny > /dev/null || $(CARGO) install cargo-deny --version 0.20.2 --locked
	cargo deny --locked check bans licenses sources

test: ## Every test of the project
	$(CARGO) test --workspace --locked

bench: ## Every benchmark, recorded under benchmarks/, and the tables of the documents
	$(CARGO) run --release --locked -p quorate-bench -- all --record
	$(MAKE) report

bench-quick: ## Every benchmark within a minute, not recorded
	$(CARGO) run --release --locked -p quorate-bench -- all --quick

report: ## The tables of README and BENCHMARKING from the newest record
	$(CARGO) run --release --locked -p quorate-bench -- report

kernels: ## Instructions of each kernel of the lanes, the table of docs/lanes.md (needs objdump)
	$(CARGO) build --release --locked -p quorate-bench
	python3 scripts/kernel_counts.py $${CARGO_TARGET_DIR:-target}/release/quorate-bench

fuzz: ## Each fuzz target for FUZZ_SECONDS (needs a nightly toolchain)
	@command -v cargo-fuzz > /dev/null || $(CARGO) install cargo-fuzz --version 0.13.2 --locked
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run --release $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

soak: ## A million random operations a verb, each back end against the portable one (20 minutes)
	$(CARGO) test --release --locked -p quorate-curve --lib soak -- --ignored --nocapture

soak-stream: ## 1 GB of claims through `quorate verify`: the bound on its memory holds
	$(CARGO) build --release --locked -p quorate-cli
	scripts/stream-memory.sh

clean: ## Remove what was built
	$(CARGO) clean
