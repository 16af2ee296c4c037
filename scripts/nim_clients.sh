#!/usr/bin/env bash
# Runs the tests of nim-blscurve with blst and with libquorate, and measures both in turn.
#
# usage: scripts/nim_clients.sh blscurve GIT_REPOSITORY [VECTORS]
#
# The repository is a clone of status-im/nim-blscurve that holds the commit below; a bare one suffices. PACKAGES names a folder with the
# sources of what it needs, each in a folder of its name: blst (0.3.16), nimcrypto, results, stew and taskpools, and for the test of
# EIP-2333 also stint, intops and unittest2. LIBRARY is the folder that `make c` leaves, else it is made here. VECTORS is a
# folder with the BLS tests of Ethereum (../shared/vectors/01_eth_bls12381_tests). SCRATCH names the folder to work in, else a
# temporary one is made and removed. ROUNDS is how often everything is measured (7).
#
# Needs Nim 2.0 or later, a C compiler, taskset and, without LIBRARY, Rust. Only a quiet machine measures well.
set -euo pipefail

blscurve=f4d0de2eece20380541fbf73d4b8bf57dc214b3b

# shellcheck source=scripts/clients/common.sh
. "$(dirname "$0")/clients/common.sh"
rounds=${ROUNDS:-7}

# As the client compiles its own tests, without its check of style.
compile() { # folder, program, flags
	nim c --skipParentCfg --skipUserCfg --verbosity:0 --hints:off --warnings:off --styleCheck:off --threads:on \
		-d:BLS_FORCE_BACKEND=blst "${paths[@]}" --nimcache:"$scratch/cache/$1" -o:"$scratch/$2" "${@:3}"
}

run_tests() { # folder, title
	local passed=0 failed=0 left=() log=$scratch/$1.log
	: > "$log"
	cd "$scratch/$1"
	for test in serialization eth2_vectors eip2333_key_derivation priv_to_pub blst_sha256 secret_sharing t_batch_verifier; do
		if [[ $test = eth2_vectors && ! -d $vectors/fast_aggregate_verify ]] ||
			[[ $test = eip2333_key_derivation && ! -d $packages/stint ]]; then
			left+=("$test")
			continue
		fi
		for memory in refc orc; do
			if compile "$1" "$1-test" --mm:$memory "${@:3}" -r tests/$test.nim >> "$log" 2>&1; then
				passed=$((passed + 1))
			else
				failed=$((failed + 1))
				echo "  FAIL $test, --mm:$memory"
			fi
		done
	done
	cd "$scratch"
	echo "$2: of its test programs, each with two kinds of memory, $passed pass, $failed fail${left:+; left out: ${left[*]}}"
	echo "  $(grep -c '^ *\[OK\]' "$log" || true) tests that they name are OK, $(grep -c '^ *\[FAILED\]' "$log" || true) are not"
	if [[ $failed != 0 ]]; then
		tail -40 "$log" >&2
		exit 1
	fi
}

run_blscurve() {
	packages=$(cd "${PACKAGES:?names the folder of the packages}" && pwd)
	vectors=${data:-$root/../shared/vectors/01_eth_bls12381_tests}
	paths=()
	for package in nimcrypto results stew taskpools stint intops/src unittest2; do
		[[ ! -d $packages/$package ]] || paths+=("--path:$packages/$package")
	done
	library=${LIBRARY:-$scratch/c}
	[[ -n ${LIBRARY:-} ]] || (cd "$root" && scripts/c_library.sh "$library")
	library=$(cd "$library" && pwd)
	local link=("--passC:-I$library/include" "--passL:$library/lib/libquorate.a -lpthread -ldl -lm -lgcc_s")

	echo "nim-blscurve $blscurve, $(nim --version | head -n 1)"
	for with in blst quorate; do
		extract "$blscurve" $with blscurve blscurve.nim tests nim.cfg
		mkdir $with/vendor
		cp -r "$packages/blst" $with/vendor/blst
		ln -s "$vectors" $with/tests/ef-bls12381-vectors-v0.1.2
		cp "$root/scripts/clients/blscurve_compare.nim" $with/tests/compare.nim
	done
	cp "$root/scripts/clients/blscurve_core.nim" quorate/blscurve/blst/blst_min_pubkey_sig_core.nim
	cp "$root/scripts/clients/blscurve_batch.nim" quorate/blscurve/bls_batch_verifier.nim
	# Variables that hold sequences start as zeros.
	sed -i 's/ *{\.noinit\.}//' quorate/blscurve/bls_sig_min_pubkey.nim
	# A test negates a signature, by the coordinates of blst: of a compressed one it is a bit.
	sed -i -e '/let neg_sigp_ptr = /,/flag = true)/d' \
		-e 's/^  var neg_sigp = sigp$/&\n  let sign = cast[ptr byte](neg_sigp.addr)\n  sign[] = sign[] xor 0x20/' \
		quorate/tests/t_batch_verifier.nim
	run_tests blst "with blst"
	run_tests quorate "with libquorate by an adapter ($(cat "$root"/scripts/clients/blscurve_{core,batch}.nim | grep -c .) lines)" \
		"${link[@]}"

	(cd blst && compile blst compare-blst -d:danger tests/compare.nim)
	(cd quorate && compile quorate compare-quorate -d:danger "${link[@]}" tests/compare.nim)
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores; medians in microseconds of CPU time, three runs in turn:"
	for _ in 1 2 3; do
		for with in blst quorate; do
			taskset -c 0 "./compare-$with" "$rounds" | sed "s/^/$with\t/"
		done
	done | python3 -c '
import statistics, sys
times = {}
for line in sys.stdin:
    engine, call, time = line.rstrip("\n").split("\t")
    times.setdefault(call, {}).setdefault(engine, []).append(float(time))
for call, by in times.items():
    blst, quorate = (statistics.median(by[engine]) for engine in ("blst", "quorate"))
    print(f"  {call}: blst {blst:.0f}, quorate {quorate:.0f}: {blst / quorate:.2f}x")'
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

case $what in
blscurve) run_blscurve ;;
*) usage ;;
esac
