#!/usr/bin/env bash
# Runs the tests of clients written in Go with their own library and with the Go module, and measures both in one process.
#
# usage: scripts/language_clients.sh prysm GIT_REPOSITORY [VECTORS]
#        scripts/language_clients.sh eigensdk GIT_REPOSITORY
#        scripts/language_clients.sh drand GIT_REPOSITORY [VECTORS]
#        scripts/language_clients.sh charon GIT_REPOSITORY
#
# The repositories are clones of OffchainLabs/prysm, Layr-Labs/eigensdk-go, drand/drand and ObolNetwork/charon that hold the
# commits below; bare ones suffice. VECTORS is a folder with the BLS tests of Ethereum, version 0.1.1 (../shared/vectors/01_eth_bls12381_tests),
# which Prysm's build fetches by Bazel, or with beacons of drand's networks (../shared/vectors/06_drand); what needs them is
# left out without them. SCRATCH names the folder to work in, else a temporary one is made and removed. ROUNDS is how often
# everything is measured (7), OPERATORS how many sign for eigensdk (1000).
#
# Needs Go of the version that the client's go.mod names, or the network to fetch it, the Go module proxy, a C compiler,
# taskset, and the library of `make go`. Only a quiet machine measures well.
set -euo pipefail

prysm=c40b59a47512c348a68bd173998af9e32a99c934
eigensdk=565bb4438918c85469763e6af07621b123e94a19
drand=f45e7e0435299e45a7ea5c321e2963cd2c81605f
charon=e628470766427d54f100d8f4da12146e2fc33300

# shellcheck source=scripts/clients/common.sh
. "$(dirname "$0")/clients/common.sh"
rounds=${ROUNDS:-7}
module=github.com/quorate/quorate/bindings/go
# Neither a workspace nor vendored modules of the user take part, and go.sum may grow.
export GOWORK=off GOFLAGS=-mod=mod

# The two lines that a user adds to go.mod.
require_module() {
	go mod edit -require "$module@v0.0.0" -replace "$module=$root/bindings/go"
}

# Prints how many tests passed, with subtests. A failure ends the script.
run_tests() { # title, arguments of go test
	local log=$scratch/tests.log status=0
	go test -count=1 -v "${@:2}" > "$log" 2>&1 || status=$?
	count() { grep -cE "^ *--- $1" "$log" || true; }
	echo "$1: $(count PASS) pass, $(count FAIL) fail, $(count SKIP) skipped, with subtests"
	sed -nE 's/^ *--- (FAIL|SKIP): (.*) \(.*/  \1 \2/p' "$log"
	if [[ $status != 0 || $(count PASS) = 0 ]]; then
		grep -vE '^ *(=== |--- PASS|PASS|ok )|downloading' "$log" | tail -40 >&2
		exit 1
	fi
}

# A test that must fail, because the module does something else on purpose.
run_different() { # why, test, package
	local log=$scratch/different.log
	if go test -count=1 -v -run "$2" "$3" > "$log" 2>&1; then
		echo "$2 does not fail, although $1" >&2
		exit 1
	fi
	grep -q '^ *--- FAIL' "$log" || { tail -40 "$log" >&2; exit 1; }
	echo "  different on purpose, so that 1 fails: $2, because $1"
}

run_prysm() {
	local packages=(./crypto/bls/...)
	local vectors=${data:-$root/../shared/vectors/01_eth_bls12381_tests}
	echo "Prysm $prysm: crypto/bls and the packages that it and its tests import"
	extract "$prysm" prysm go.mod go.sum build/bazel config/fieldparams config/params consensus-types/primitives container/slice \
		crypto/bls crypto/hash crypto/rand encoding/bytesutil encoding/ssz/equality io/file math proto/engine/v1 proto/eth/ext \
		proto/prysm/v1alpha1 runtime/version testing/assert testing/assertions testing/bls testing/require third_party/go-bip39
	cd prysm
	if [[ -d $vectors/fast_aggregate_verify ]]; then
		# What looks for the files of Bazel finds them beside the test.
		for folder in "$vectors"/*/; do
			ln -s "$(realpath "$folder")" "testing/bls/$(basename "$folder")"
		done
		packages+=(./testing/bls)
	else
		echo "testing/bls is left out: $vectors has no tests of Ethereum"
	fi
	run_tests "with blst" "${packages[@]}"

	require_module
	mkdir crypto/bls/original
	mv crypto/bls/blst/{aliases,doc,init,public_key,secret_key,signature}.go crypto/bls/original/
	rm crypto/bls/blst/stub.go
	# TestCopy is the last test of its file.
	sed -i '/^func TestCopy(/,$d' crypto/bls/blst/signature_test.go
	# Prysm's package with its exported names, over the module's package eth.
	cp "$root/scripts/clients/prysm_adapter.go" crypto/bls/blst/adapter.go
	# Prysm's test of Copy signs in place, by the types of blst: this one says the same of the exported names.
	cp "$root/scripts/clients/prysm_adapter_test.go" crypto/bls/blst/adapter_test.go
	local different='^TestSignatureFromBytesNoValidation$/^Not_in_group$'
	run_tests "with quorate by an adapter ($(grep -c . crypto/bls/blst/adapter.go) lines)" -skip "$different" "${packages[@]}"
	run_different "every signature is checked, also where Prysm decodes it without a check" "$different" ./crypto/bls/blst

	mkdir crypto/bls/compare
	cp "$root/scripts/clients/prysm_compare.go" crypto/bls/compare/main.go
	go build -o "$scratch/compare" ./crypto/bls/compare
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	echo "one core:"
	GOMAXPROCS=1 taskset -c 0 "$scratch/compare" "$rounds" own
	echo "as the client runs, which keeps a core from blst:"
	"$scratch/compare" "$rounds" own
	echo "all cores for both:"
	"$scratch/compare" "$rounds" all
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

# What the tests measure by.
add_measure() {
	mkdir measure
	cp "$root/scripts/clients/measure.go" measure/
}

# Measures a test of the client's package with the client's own library and with the module.
run_measured() { # package, tests
	local within
	go test -c -o "$scratch/measured" "$1"
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	echo "one core, CPU time:"
	(cd "$1" && GOMAXPROCS=1 taskset -c 0 "$scratch/measured" -test.run "$2" | grep -v '^PASS')
	echo "all cores:"
	(cd "$1" && "$scratch/measured" -test.run "$2" | grep -v '^PASS')
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

# What needs neither the network nor containers, as other tests of the client do.
run_eigensdk() {
	local sdk=(./crypto/... ./services/avsregistry ./services/bls_aggregation) chain='^(TestIntegrationBlsAgg)$'
	echo "eigensdk-go $eigensdk: what makes, keeps and verifies signatures"
	extract "$eigensdk" eigensdk go.mod go.sum aws chainio contracts/bindings crypto internal logging metrics services signerv2 testutils \
		types utils
	cd eigensdk
	run_tests "with gnark-crypto" -skip "$chain" "${sdk[@]}"

	require_module
	add_measure
	cp "$root/scripts/clients/eigensdk_test.go" crypto/bls/quorate_test.go
	export OPERATORS=${OPERATORS:-1000} ROUNDS=$rounds
	run_measured ./crypto/bls '^TestQuorate'

	# In the place of the test that measures: what the adapter refuses.
	cp "$root/scripts/clients/eigensdk_adapter_test.go" crypto/bls/quorate_test.go
	# Nothing is left that verifies by gnark-crypto, and only SignHashedToCurveMessage signs by it.
	for function in VerifySig CheckG1AndG2DiscreteLogEquality MulByGeneratorG1 MulByGeneratorG2; do
		sed -i "/^func $function(/,/^}/d" crypto/bn254/utils.go
	done
	sed -i '/gnark-crypto\/ecc\/bn254\/fr"/d' crypto/bn254/utils.go
	cp "$root/scripts/clients/eigensdk_adapter.go" crypto/bn254/quorate.go
	sed -i -e '/^func (k \*KeyPair) SignMessage(/,/^}/{/bn254utils.MapToCurve/d;s/^\tsig := .*/\tsig := bn254utils.Sign(k.PrivKey, message)/}' \
		-e 's/) Verify(pubkey \*G2Point,/) Verify(g1 *G1Point, pubkey *G2Point,/' \
		-e 's/VerifySig(s.G1Affine, /&g1.G1Affine, /' crypto/bls/attestation.go
	# The aggregator has the key in G1 beside that in G2, and gives both.
	sed -i 's/BlsSignature\.Verify(/&operatorsAvsStateDict[signedTaskResponseDigest.OperatorId].OperatorInfo.Pubkeys.G1Pubkey, /' \
		services/bls_aggregation/blsagg.go
	run_tests "with quorate by an adapter ($(grep -c . crypto/bn254/quorate.go) lines)" -skip "$chain" "${sdk[@]}"
}

run_drand() {
	local vectors=${data:-$root/../shared/vectors/06_drand}
	# The tests of internal/chain/beacon run networks that make beacons.
	local packages=(./crypto ./common/... ./internal/chain/beacon ./internal/dkg)
	echo "drand $drand: ${packages[*]}"
	extract "$drand" drand go.mod go.sum common crypto internal protobuf test/mock
	cd drand
	run_tests "with kyber" -tags conn_insecure "${packages[@]}"

	require_module
	add_measure
	cp "$root/scripts/clients/drand_adapter.go" crypto/quorate.go
	cp "$root/scripts/clients/drand_test.go" crypto/quorate_test.go
	export VECTORS=$vectors ROUNDS=$rounds
	run_tests "what kyber demands of schemes, of the five over quorate" -run '^TestQuorateSchemes$' ./crypto
	go test -count=1 -v -run '^TestQuorateRealBeacons$' ./crypto | grep beacons
	run_measured ./crypto '^TestQuorateMeasured$'

	rm crypto/quorate_test.go
	sed -i -e 's/^\treturn &Scheme{$/\treturn OverQuorate(\&Scheme{/' -e '/^\t\tDigestBeacon: /{n;s/^\t}$/\t})/}' crypto/schemes.go
	# Otherwise kyber would be tested twice.
	[[ $(grep -c 'return OverQuorate(' crypto/schemes.go) = 5 ]] || { echo "crypto/schemes.go has not five schemes" >&2; exit 1; }
	run_tests "with quorate by an adapter ($(grep -c . crypto/quorate.go) lines)" -tags conn_insecure "${packages[@]}"
}

run_charon() {
	echo "Charon $charon: tbls"
	extract "$charon" charon go.mod go.sum app/errors app/z tbls/herumi.go tbls/tbls.go tbls/tbls_test.go
	cd charon
	run_tests "with herumi" ./tbls
	require_module
	cp "$root/scripts/clients/charon_adapter.go" tbls/quorate.go
	cp "$root/scripts/clients/charon_test.go" tbls/quorate_test.go
	run_tests "the same tests with quorate by an adapter ($(grep -c . tbls/quorate.go) lines), and with both in turn" \
		-run '^TestQuorate(Implementation|Randomized|Refuses)$' ./tbls
	export ROUNDS=$rounds
	go test -c -o "$scratch/partials" ./tbls
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	for within in "taskset -c 0" ""; do
		[[ -n $within ]] && echo "one core:" || echo "all cores:"
		$within "$scratch/partials" -test.run '^TestQuorateMeasured$' | grep -v '^PASS'
	done
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

case $what in
prysm) run_prysm ;;
eigensdk) run_eigensdk ;;
drand) run_drand ;;
charon) run_charon ;;
*) usage ;;
esac
