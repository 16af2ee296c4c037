# The only entry: `make check test contracts bench fuzz`. Continuous integration calls the same targets.

.DEFAULT_GOAL := help
CARGO ?= cargo
FUZZ_SECONDS ?= 60

.PHONY: help check test dashboard contracts contracts-snapshots slither bench bench-quick report kernels no-std msrv features fuzz fuzz-smoke test-aarch64 soak soak-stream timing miri deny clean

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: deny ## Format, lints, documentation, imports, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	python3 scripts/check_imports.py

deny: ## Licences, unwanted and duplicate dependencies; advisories where a database of them is on this machine
	@command -v cargo-deny > /dev/null || $(CARGO) install cargo-deny --version 0.20.2 --locked
	cargo deny --locked check bans licenses sources
	@if ls $${CARGO_HOME:-$$HOME/.cargo}/advisory-db* > /dev/null 2>&1; then cargo deny --locked --offline check advisories; \
	else echo "advisories: skipped, there is no database on this machine (\`cargo deny fetch\` gets it)"; fi

test: ## Every test: the crates, and where npm is the contracts and the dashboard
	@if command -v npm > /dev/null; then $(MAKE) contracts; \
	elif [ "$$CI" = true ]; then echo "There is no npm, which the contracts need: install Node.js 20 or later"; exit 1; \
	else echo "contracts: skipped, there is no npm (install Node.js 20 or later)"; fi
	$(CARGO) test --workspace --locked
	@if command -v npm > /dev/null; then $(MAKE) dashboard; \
	else echo "dashboard: skipped, there is no npm (install Node.js 20 or later)"; fi

# The file itself, because npm 10 does not link it into node_modules/.bin.
FORGE := node_modules/@foundry-rs/forge/bin.mjs

# The lockfile names every package. It has no hash for six packages of version 1.7.1, because the registry did not have
# them when the lockfile was made: @foundry-rs/anvil-darwin-amd64, anvil-darwin-arm64, anvil-linux-arm64,
# anvil-win32-amd64, forge-darwin-amd64 and forge-linux-arm64. On those platforms npm cannot verify what it downloads.
# Install scripts do not run (.npmrc), because those of forge and anvil download programs that no lockfile verifies.
contracts/node_modules/.package-lock.json: contracts/package-lock.json contracts/.npmrc
	cd contracts && npm ci --loglevel=error
	@touch $@

contracts: contracts/node_modules/.package-lock.json ## Build and test the contracts; gas must be what contracts/snapshots says
	cd contracts && $(FORGE) fmt --check src test script
	cd contracts && $(FORGE) build --quiet
	python3 scripts/contract_artifacts.py --check
	cd contracts && FORGE_SNAPSHOT_CHECK=true $(FORGE) test

BROWSER := apps/quorate-server/browser
$(BROWSER)/node_modules/.package-lock.json: $(BROWSER)/package-lock.json $(BROWSER)/.npmrc
	cd $(BROWSER) && npm ci --loglevel=error
	@touch $@

# The browser is unpacked into the temporary folder, where another version of it may lie: it gets a folder of its own.
dashboard: $(BROWSER)/node_modules/.package-lock.json ## The server's dashboard in a real browser
	$(CARGO) build --locked -p quorate-server
	mkdir -p $${CARGO_TARGET_DIR:-target}/browser
	cd $(BROWSER) && TMPDIR=$(abspath $(or $(CARGO_TARGET_DIR),target))/browser \
		QUORATE_SERVER=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/quorate-server npm test

contracts-snapshots: contracts/node_modules/.package-lock.json ## After a change of the contracts: their gas, and what Rust needs of them
	cd contracts && $(FORGE) fmt src test script && $(FORGE) build --quiet && $(FORGE) test
	python3 scripts/contract_artifacts.py

contracts/.venv/bin/slither: contracts/slither-requirements.txt
	python3 -m venv contracts/.venv
	contracts/.venv/bin/pip install --quiet --requirement contracts/slither-requirements.txt
	@touch $@

# slither cleans before it builds, so it gets folders of its own. It calls `forge` by name, so it needs npm 11, which links it.
slither: contracts/node_modules/.package-lock.json contracts/.venv/bin/slither ## Static analysis of the contracts: no finding without an answer
	cd contracts && PATH="$$PWD/node_modules/.bin:$$PWD/.venv/bin:$$PATH" \
		FOUNDRY_OUT=.slither/out FOUNDRY_CACHE_PATH=.slither/cache slither .

bench: ## Every benchmark, recorded under benchmarks/, and the tables of the documents
	$(CARGO) build --release --locked -p quorate-bench -p quorate-server
	$(CARGO) run --release --locked -p quorate-bench -- all --record
	$(MAKE) report

bench-quick: ## Every benchmark within some minutes, not recorded
	$(CARGO) build --release --locked -p quorate-bench -p quorate-server
	$(CARGO) run --release --locked -p quorate-bench -- all --quick

report: ## The tables of README and BENCHMARKING from the newest record
	$(CARGO) run --release --locked -p quorate-bench -- report

kernels: ## Instructions of each kernel of the lanes, the table of docs/lanes.md (needs objdump)
	$(CARGO) build --release --locked -p quorate-bench
	python3 scripts/kernel_counts.py $${CARGO_TARGET_DIR:-target}/release/quorate-bench

# On a bare target blst leaves std out; on any other it must be told to.
NO_STD_TARGET := $(shell rustup target list --installed 2> /dev/null | grep -x x86_64-unknown-none)

no-std: ## quorate-curve needs no std: a program without it, for a bare target where rustup has one
	BLST_TEST_NO_STD=1 $(CARGO) build --locked --manifest-path crates/quorate-curve/no_std/Cargo.toml \
		--target-dir $${CARGO_TARGET_DIR:-target}/no-std $(addprefix --target ,$(NO_STD_TARGET))

msrv: MINIMUM := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
msrv: ## Everything compiles with the minimum Rust version that Cargo.toml states
	@case "$$(rustc --version)" in \
	"rustc $(MINIMUM)."*) echo "msrv: Rust $(MINIMUM) builds everything else here already" ;; \
	*) $(CARGO) +$(MINIMUM) check --workspace --all-targets --locked ;; esac

# A feature that compiles only beside another one is found here.
features: ## Each crate with each of its features alone
	$(CARGO) check --locked -p quorate
	$(CARGO) check --locked -p quorate --features bn254
	$(CARGO) check --locked -p quorate --features serde
	$(CARGO) check --locked -p quorate-formats
	$(CARGO) check --locked -p quorate-formats --features parquet
	$(CARGO) check --locked -p quorate-formats --features arrow
	$(CARGO) check --locked -p quorate-server --features otlp
	$(CARGO) check --locked -p quorate-batcher
	$(CARGO) check --locked -p quorate-batcher --features bn254
	$(CARGO) test --locked -p quorate-batcher --features tower tower
	$(CARGO) check --locked -p quorate-curve --features bench-internals
	$(CARGO) check --locked -p quorate-blst
	$(CARGO) check --locked -p quorate-blst --features no-threads,portable,force-adx
	$(CARGO) check --locked -p quorate-blst --features serde
	$(CARGO) test --locked -p quorate-blst --features serde-secret

# Needs a cross compiler (Debian: gcc-aarch64-linux-gnu), an emulator (qemu-user), and `rustup target add aarch64-unknown-linux-gnu`.
AARCH64 := aarch64-unknown-linux-gnu
test-aarch64: ## The tests of the curve and the engine on an emulated ARM CPU
	@rustup target list --installed 2> /dev/null | grep -qx $(AARCH64) || \
		{ echo "Rust has no standard library for $(AARCH64) here: run \`rustup target add $(AARCH64)\`"; exit 1; }
	@command -v aarch64-linux-gnu-gcc > /dev/null || { echo "there is no aarch64-linux-gnu-gcc: install gcc-aarch64-linux-gnu"; exit 1; }
	@command -v qemu-aarch64 > /dev/null || { echo "there is no qemu-aarch64: install qemu-user"; exit 1; }
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
		$(CARGO) test --locked --release --target $(AARCH64) -p quorate-curve -p quorate

fuzz-smoke: ## Each fuzz target builds and runs for a second (needs a nightly toolchain)
	@if cargo +nightly --version > /dev/null 2>&1; then $(MAKE) fuzz FUZZ_SECONDS=1 FUZZ_FLAGS=-verbosity=0; \
	else echo "fuzz-smoke: skipped, there is no nightly toolchain (\`rustup toolchain install nightly\`)"; fi

fuzz: ## Each fuzz target for FUZZ_SECONDS (needs a nightly toolchain)
	@command -v cargo-fuzz > /dev/null || $(CARGO) install cargo-fuzz --version 0.13.2 --locked
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run --release $$target -- -max_total_time=$(FUZZ_SECONDS) $(FUZZ_FLAGS) || exit 1; \
	done

soak: ## A million random operations a verb, each back end against the portable one; a million signatures outside the subgroup; a million calls beside blst; a thousand times kill -9 (45 minutes)
	$(CARGO) test --release --locked -p quorate-curve --lib soak -- --ignored --nocapture
	$(CARGO) test --release --locked -p quorate --test all soak -- --ignored --nocapture
	$(CARGO) test --release --locked -p quorate-blst --test all soak -- --ignored --nocapture
	$(CARGO) test --release --locked -p quorate-batcher --test all soak -- --ignored --nocapture

soak-stream: ## 1 GB of claims through `quorate verify`: the bound on its memory holds
	$(CARGO) build --release --locked -p quorate-cli
	scripts/stream-memory.sh

timing: ## Whether the time of signing or of reading a key tells something about the secret (a minute; leave the machine alone)
	$(CARGO) test --release --locked -p quorate-cli --test timing -- --ignored --nocapture

# Miri calls no C, so blst is out of its reach, and with it all arithmetic. It knows no AVX-512 either.
MIRI := MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 cargo +nightly miri test --locked
miri: ## What needs no blst, under Miri: weights, covers, threads, readers of text (ten minutes; needs a nightly toolchain with Miri)
	@cargo +nightly miri --version > /dev/null 2>&1 || \
		{ echo "there is no Miri here: run \`rustup +nightly component add miri rust-src\`"; exit 1; }
	$(MIRI) -p quorate-curve --lib -- weight:: --skip digits_modulo
	$(MIRI) -p quorate --lib -- plan::position plan::cover threads:: verdict:: suite::
	$(MIRI) -p quorate-formats --lib -- columns:: deposit:: document:: drand:: format:: hex:: json:: jsonl:: number:: record:: \
		ssz:: --skip peeking --skip limit --skip overlong --skip named_once

clean: ## Remove what was built
	$(CARGO) clean
