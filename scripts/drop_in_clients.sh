#!/usr/bin/env bash
# Runs the tests of two clients of blst with blst and with the drop-in, and measures the verification of real blocks.
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

root=$(cd "$(dirname "$0")/.." && pwd)
what=${1:-} repository=${2:-}
[[ -n $what && -n $repository ]] || { sed -n '4,6s/^# //p' "$0" >&2; exit 2; }
repository=$(cd "$repository" && pwd)
if [[ -n ${SCRATCH:-} ]]; then
	mkdir -p "$SCRATCH"
	scratch=$(cd "$SCRATCH" && pwd)
else
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
fi
cd "$scratch"
# The line that a user writes.
drop_in="blst = { package = \"quorate-blst\", path = \"$root/crates/quorate-blst\""

# Path by path, so that a clone may lack other files.
extract() { # commit, folder, paths
	rm -rf "$2" && mkdir -p "$2"
	for path in "${@:3}"; do
		mkdir -p "$2/$(dirname "$path")"
		if [[ $(git -C "$repository" cat-file -t "$1:$path") = tree ]]; then
			git -C "$repository" archive --prefix="$path/" "$1:$path" | tar -x -C "$2"
		else
			git -C "$repository" show "$1:$path" > "$2/$path"
		fi
	done
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
		[[ $with = blst ]] || sed -i "s#^blst = .*#$drop_in, optional = true }#" crypto/bls/Cargo.toml
		echo "Lighthouse crypto/bls with $with:"
		CARGO_TARGET_DIR=$scratch/target cargo test -p bls 2>&1 | grep -E '^test result|FAILED|^error' | head -20
	done
}

# blst.node by blst and quorate.node by the drop-in.
build_blst_ts() {
	extract "$blst_ts" blst-ts src Cargo.toml build.rs package.json index.js index.d.ts npm tsconfig.json .mocharc.yaml \
		test/unit test/utils test/__fixtures__
	(cd blst-ts && npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps --loglevel=error)
	for with in blst quorate; do
		[[ $with = blst ]] || sed -i "s#^blst = .*#$drop_in, features = [\"portable\"] }#" blst-ts/Cargo.toml
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
}

run_lodestar() {
	eras=${1:-$root/../shared/vectors/20_history/capella}
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
	for _ in 1 2 3; do
		for with in blst quorate; do
			cp ../$with.node node_modules/@chainsafe/blst-linux-x64-gnu/blst.linux-x64-gnu.node
			echo "Lodestar with $with.node:"
			LODESTAR_PRESET=minimal node drop_in_blocks.mjs "$eras"/minimal-0000{0,1}.era "$eras/chain.json" 5
		done
	done
}

case $what in
lighthouse) run_lighthouse ;;
blst-ts) run_blst_ts ;;
lodestar) run_lodestar "${3:-}" ;;
*) sed -n '4,6s/^# //p' "$0" >&2; exit 2 ;;
esac
