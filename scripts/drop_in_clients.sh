#!/usr/bin/env bash
# Runs the tests of two clients of blst with blst and with the drop-in, blst-ts also with the npm package, and measures the
# verification of real blocks.
#
# usage: scripts/drop_in_clients.sh lighthouse GIT_REPOSITORY
#        scripts/drop_in_clients.sh blst-ts GIT_REPOSITORY
#        scripts/drop_in_clients.sh lodestar GIT_REPOSITORY_OF_BLST_TS [ERAS]
#
# The repositories are clones of sigp/lighthouse and ChainSafe/blst-ts that hold the commits below; bare ones suffice. ERAS
# is a folder with the eras of a chain of the minimal preset (../shared/vectors/20_history/capella). SCRATCH names the
# folder to work in, else a temporary one is made and removed. Needs Rust, a C compiler and, for the last two, Node.js 20
# with npm and its registry. docs/drop-in.md has the results.
set -euo pipefail

lighthouse=2e0eb6d1b8
blst_ts=86c4959
lodestar=1.22.0

# shellcheck source=scripts/clients/common.sh
. "$(dirname "$0")/clients/common.sh"
# Writes the line that a user writes into a manifest, with more behind it. Without it, blst would be measured under the drop-in's name.
take_drop_in() { # manifest, options
	sed -i "s#^blst = .*#blst = { package = \"quorate-blst\", path = \"$root/crates/quorate-blst\"$2 }#" "$1"
	grep -q quorate-blst "$1" || { echo "$1 has no line \"blst = \", which the drop-in would take the place of" >&2; exit 1; }
}

run_lighthouse() {
	extract "$lighthouse" lighthouse Cargo.toml crypto/bls
	# A workspace of this crate alone, with the versions of the whole one.
	python3 - lighthouse/Cargo.toml <<-'PYTHON'
		import pathlib, re, sys
		path = pathlib.Path(sys.argv[1])
		text = path.read_text()
		names = "ethereum_ssz tree_hash rand serde ethereum_serde_utils hex ethereum_hashing ethereum-types arbitrary zeroize"
		wanted = re.compile(r"(%s)\s*=" % "|".join(names.split()))
		lines = [line for line in text.splitlines() if wanted.match(line) and "path" not in line]
		head = '[workspace]\nresolver = "2"\nmembers = ["crypto/bls"]\n[workspace.package]\nedition = "2021"\n[workspace.dependencies]\n'
		path.write_text(head + "\n".join(lines) + "\n")
	PYTHON
	cd lighthouse
	for with in blst quorate-blst; do
		[[ $with = blst ]] || take_drop_in crypto/bls/Cargo.toml ", optional = true"
		echo "Lighthouse crypto/bls with $with:"
		CARGO_TARGET_DIR=$scratch/target cargo test -p bls 2>&1 | grep -E '^test result|FAILED|^error' | head -20
	done
}

# blst.node by blst, and quorate.node by the drop-in.
build_blst_ts() {
	extract "$blst_ts" blst-ts src Cargo.toml build.rs package.json index.js index.d.ts npm tsconfig.json .mocharc.yaml \
		test/unit test/utils test/__fixtures__
	(cd blst-ts && npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps --loglevel=error)
	for with in blst quorate; do
		[[ $with = blst ]] || take_drop_in blst-ts/Cargo.toml ', features = ["portable"]'
		(cd blst-ts && CARGO_TARGET_DIR=$scratch/target node_modules/.bin/napi build --platform --release > /dev/null)
		mv blst-ts/blst.linux-x64-gnu.node $with.node
	done
}

run_blst_ts() {
	build_blst_ts
	for with in blst quorate; do
		cp $with.node blst-ts/blst.linux-x64-gnu.node
		echo "blst-ts with $with.node:"
		(cd blst-ts && node_modules/.bin/mocha 'test/unit/**/*.test.ts' | grep -E 'passing|failing')
	done
	# bindings/node/blst.d.ts says what differs.
	echo "blst-ts with the npm package:"
	npm_package > blst-ts/index.js
	(cd blst-ts && node_modules/.bin/mocha 'test/unit/**/*.test.ts' | grep -E 'passing|failing|^ *[^ ]* *[0-9]+\) ') || true
}

# What stands in the place of the client's package, so that it calls the entry `quorate/blst` of bindings/node, as `make node` leaves it.
npm_package() {
	printf 'module.exports = require("%s");\n' "$root/bindings/node/blst.js"
}

run_lodestar() {
	local eras=${data:-$root/../shared/vectors/20_history/capella}
	build_blst_ts
	mkdir -p lodestar
	{
		printf '{"type": "module", "dependencies": {"@lodestar/state-transition": "%s"' $lodestar
		printf ', "@lodestar/%s": "'$lodestar'"' config params types utils
		printf '}, "overrides": {"@lodestar/config": "%s"' $lodestar
		printf ', "@lodestar/%s": "'$lodestar'"' params types utils
		printf '}}\n'
	} > lodestar/package.json
	cp "$root/scripts/drop_in_blocks.mjs" lodestar/
	cd lodestar
	npm install --ignore-scripts --no-audit --no-fund --loglevel=error
	cp node_modules/@chainsafe/blst/index.js ../index.js
	for _ in 1 2 3; do
		for with in blst quorate package; do
			if [[ $with = package ]]; then
				npm_package > node_modules/@chainsafe/blst/index.js
			else
				cp ../index.js node_modules/@chainsafe/blst/
				cp ../$with.node node_modules/@chainsafe/blst-linux-x64-gnu/blst.linux-x64-gnu.node
			fi
			echo "Lodestar with $with:"
			LODESTAR_PRESET=minimal node drop_in_blocks.mjs "$eras"/minimal-0000{0,1}.era "$eras/chain.json" 5
		done
	done
}

case $what in
lighthouse) run_lighthouse ;;
blst-ts) run_blst_ts ;;
lodestar) run_lodestar ;;
*) usage ;;
esac
