#!/usr/bin/env bash
# Runs the tests of clients written in Go with their own library and with the Go module, and measures both in one process.
#
# usage: scripts/language_clients.sh prysm GIT_REPOSITORY [VECTORS]
#        scripts/language_clients.sh eigensdk GIT_REPOSITORY
#        scripts/language_clients.sh drand GIT_REPOSITORY [VECTORS]
#
# The repositories are clones of OffchainLabs/prysm, Layr-Labs/eigensdk-go and drand/drand that hold the commits below; bare
# ones suffice. VECTORS is a folder with the BLS tests of Ethereum, version 0.1.1 (../shared/vectors/01_eth_bls12381_tests),
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

root=$(cd "$(dirname "$0")/.." && pwd)
what=${1:-} repository=${2:-}
[[ -n $what && -n $repository ]] || { sed -n '4,6s/^# //p' "$0" >&2; exit 2; }
repository=$(cd "$repository" && pwd)
vectors=${3:-}
[[ -z $vectors ]] || vectors=$(cd "$vectors" && pwd)
if [[ -n ${SCRATCH:-} ]]; then
	mkdir -p "$SCRATCH"
	scratch=$(cd "$SCRATCH" && pwd)
else
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
fi
cd "$scratch"
rounds=${ROUNDS:-7}
module=github.com/quorate/quorate/bindings/go
# Neither a workspace nor vendored modules of the user take part, and go.sum may grow.
export GOWORK=off GOFLAGS=-mod=mod

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

# Prysm's package crypto/bls/blst with its exported names, over the module's package eth.
write_prysm_adapter() { # folder
	cat > "$1/adapter.go" <<-'GO'
		// Package blst is Prysm's interface to its BLS library, over quorate.
		package blst

		import (
			"errors"
			"fmt"
			"strings"

			"github.com/OffchainLabs/prysm/v7/crypto/bls/common"
			quorate "github.com/quorate/quorate/bindings/go"
			"github.com/quorate/quorate/bindings/go/eth"
		)

		type bls12SecretKey struct{ eth.SecretKey }

		func newSecretKey(key eth.SecretKey, err error) (common.SecretKey, error) {
			if err != nil {
				return nil, err
			}
			return &bls12SecretKey{key}, nil
		}

		func RandKey() (common.SecretKey, error) { return newSecretKey(eth.RandKey()) }

		func SecretKeyFromBytes(privKey []byte) (common.SecretKey, error) {
			if len(privKey) != 32 {
				return nil, errors.New("secret key must be 32 bytes")
			}
			key, err := eth.SecretKeyFromBytes(privKey)
			if errors.Is(err, quorate.ErrEncoding) {
				err = common.ErrSecretUnmarshal
			}
			return newSecretKey(key, err)
		}

		func IsZero(sKey []byte) bool {
			b := byte(0)
			for _, s := range sKey {
				b |= s
			}
			return b == 0
		}

		func (s *bls12SecretKey) PublicKey() common.PublicKey { return &PublicKey{s.SecretKey.PublicKey()} }

		func (s *bls12SecretKey) Sign(msg []byte) common.Signature { return &Signature{s.SecretKey.Sign(msg)} }

		type PublicKey struct{ eth.PublicKey }

		func newPublicKey(key eth.PublicKey, err error) (common.PublicKey, error) {
			switch {
			case err == nil:
				return &PublicKey{key}, nil
			case strings.Contains(err.Error(), "identity") || strings.Contains(err.Error(), "subgroup"):
				return nil, common.ErrInfinitePubKey
			default:
				return nil, fmt.Errorf("could not unmarshal bytes into public key: %w", err)
			}
		}

		func keysOf(keys []common.PublicKey) []eth.PublicKey {
			inner := make([]eth.PublicKey, len(keys))
			for i, key := range keys {
				inner[i] = key.(*PublicKey).PublicKey
			}
			return inner
		}

		func PublicKeyFromBytes(pubKey []byte) (common.PublicKey, error) {
			if len(pubKey) != 48 {
				return nil, errors.New("public key must be 48 bytes")
			}
			return newPublicKey(eth.PublicKeyFromBytes(pubKey))
		}

		func AggregatePublicKeys(pubs [][]byte) (common.PublicKey, error) {
			if len(pubs) == 0 {
				return nil, errors.New("nil or empty public keys")
			}
			return newPublicKey(eth.AggregatePublicKeys(pubs))
		}

		func AggregateMultiplePubkeys(pubkeys []common.PublicKey) common.PublicKey {
			return &PublicKey{eth.AggregateMultiplePubkeys(keysOf(pubkeys))}
		}

		func (p *PublicKey) Copy() common.PublicKey { return &PublicKey{p.PublicKey.Copy()} }

		func (p *PublicKey) Equals(p2 common.PublicKey) bool { return p.PublicKey.Equals(p2.(*PublicKey).PublicKey) }

		func (p *PublicKey) Aggregate(p2 common.PublicKey) common.PublicKey {
			p.PublicKey.Aggregate(p2.(*PublicKey).PublicKey)
			return p
		}

		type Signature struct{ eth.Signature }

		func signatureError(err error) error {
			switch {
			case err == nil:
				return nil
			case strings.Contains(err.Error(), "subgroup"):
				return fmt.Errorf("signature not in group: %w", err)
			default:
				return fmt.Errorf("could not unmarshal bytes into signature: %w", err)
			}
		}

		func SignatureFromBytes(sig []byte) (common.Signature, error) {
			if len(sig) != 96 {
				return nil, errors.New("signature must be 96 bytes")
			}
			signature, err := eth.SignatureFromBytes(sig)
			if err != nil {
				return nil, signatureError(err)
			}
			return &Signature{signature}, nil
		}

		func SignatureFromBytesNoValidation(sig []byte) (common.Signature, error) { return SignatureFromBytes(sig) }

		func MultipleSignaturesFromBytes(multiSigs [][]byte) ([]common.Signature, error) {
			if len(multiSigs) == 0 {
				return nil, errors.New("0 signatures provided to the method")
			}
			signatures := make([]common.Signature, len(multiSigs))
			for i, bytes := range multiSigs {
				signature, err := SignatureFromBytes(bytes)
				if err != nil {
					return nil, err
				}
				signatures[i] = signature
			}
			return signatures, nil
		}

		func NewAggregateSignature() common.Signature { return &Signature{eth.NewAggregateSignature()} }

		func AggregateSignatures(sigs []common.Signature) common.Signature {
			inner := make([]eth.Signature, len(sigs))
			for i, signature := range sigs {
				inner[i] = signature.(*Signature).Signature
			}
			sum := eth.AggregateSignatures(inner)
			if sum == nil {
				return nil
			}
			return &Signature{sum}
		}

		func AggregateCompressedSignatures(multiSigs [][]byte) (common.Signature, error) {
			sum, err := eth.AggregateCompressedSignatures(multiSigs)
			if err != nil {
				return nil, err
			}
			return &Signature{sum}, nil
		}

		func VerifySignature(sig []byte, msg [32]byte, pubKey common.PublicKey) (bool, error) {
			valid, err := eth.VerifySignature(sig, msg, pubKey.(*PublicKey).PublicKey)
			return valid, signatureError(err)
		}

		func VerifyMultipleSignatures(sigs [][]byte, msgs [][32]byte, pubKeys []common.PublicKey) (bool, error) {
			return eth.VerifyMultipleSignatures(sigs, msgs, keysOf(pubKeys))
		}

		func VerifyCompressed(signature, pub, msg []byte) bool { return eth.VerifyCompressed(signature, pub, msg) }

		func (s *Signature) Verify(pubKey common.PublicKey, msg []byte) bool {
			return s.Signature.Verify(pubKey.(*PublicKey).PublicKey, msg)
		}

		func (s *Signature) AggregateVerify(pubKeys []common.PublicKey, msgs [][32]byte) bool {
			return s.Signature.AggregateVerify(keysOf(pubKeys), msgs)
		}

		func (s *Signature) FastAggregateVerify(pubKeys []common.PublicKey, msg [32]byte) bool {
			return s.Signature.FastAggregateVerify(keysOf(pubKeys), msg)
		}

		func (s *Signature) Eth2FastAggregateVerify(pubKeys []common.PublicKey, msg [32]byte) bool {
			return s.Signature.Eth2FastAggregateVerify(keysOf(pubKeys), msg)
		}

		func (s *Signature) Copy() common.Signature { return &Signature{s.Signature.Copy()} }
	GO
	# Prysm's test of Copy signs in place, by the types of blst: this one says the same of the exported names.
	cat > "$1/adapter_test.go" <<-'GO'
		package blst

		import (
			"testing"

			"github.com/OffchainLabs/prysm/v7/testing/assert"
			"github.com/OffchainLabs/prysm/v7/testing/require"
		)

		func TestCopy(t *testing.T) {
			priv, err := RandKey()
			require.NoError(t, err)
			signatureA := priv.Sign([]byte("foo")).(*Signature)
			signatureB, ok := signatureA.Copy().(*Signature)
			require.Equal(t, true, ok)
			assert.NotEqual(t, signatureA, signatureB)
			assert.DeepEqual(t, signatureA, signatureB)
			*signatureA = *priv.Sign([]byte("bar")).(*Signature)
			assert.DeepNotEqual(t, signatureA, signatureB)
		}
	GO
}

# A program that verifies the same with Prysm's own package, with the adapter, and by the module's own calls where there is a
# better one. Messages are new in each run, and keys were seen before.
write_prysm_comparison() { # folder
	mkdir -p "$1"
	cat > "$1/main.go" <<-'GO'
		package main

		import (
			"context"
			"crypto/sha256"
			"encoding/binary"
			"fmt"
			"math/big"
			"math/rand"
			"os"
			"runtime"
			"slices"
			"strconv"
			"time"

			adapter "github.com/OffchainLabs/prysm/v7/crypto/bls/blst"
			"github.com/OffchainLabs/prysm/v7/crypto/bls/common"
			original "github.com/OffchainLabs/prysm/v7/crypto/bls/original"
			quorate "github.com/quorate/quorate/bindings/go"
			supranational "github.com/supranational/blst/bindings/go"
		)

		func certain[T any](value T, err error) T {
			if err != nil {
				panic(err)
			}
			return value
		}

		func assert(truth bool, what string) {
			if !truth {
				panic("wrong: " + what)
			}
		}

		type engine struct {
			publicKey         func([]byte) (common.PublicKey, error)
			signature         func([]byte) (common.Signature, error)
			signatureNoChecks func([]byte) (common.Signature, error)
			verifyMultiple    func([][]byte, [][32]byte, []common.PublicKey) (bool, error)
			sumKeys           func([]common.PublicKey) common.PublicKey
			sumKeyBytes       func([][]byte) (common.PublicKey, error)
			sumSignatures     func([]common.Signature) common.Signature
			sumSignatureBytes func([][]byte) (common.Signature, error)
			keys              []common.PublicKey
		}

		var engines = []*engine{
			{original.PublicKeyFromBytes, original.SignatureFromBytes, original.SignatureFromBytesNoValidation,
				original.VerifyMultipleSignatures, original.AggregateMultiplePubkeys, original.AggregatePublicKeys,
				original.AggregateSignatures, original.AggregateCompressedSignatures, nil},
			{adapter.PublicKeyFromBytes, adapter.SignatureFromBytes, adapter.SignatureFromBytesNoValidation,
				adapter.VerifyMultipleSignatures, adapter.AggregateMultiplePubkeys, adapter.AggregatePublicKeys,
				adapter.AggregateSignatures, adapter.AggregateCompressedSignatures, nil},
		}

		const keyCount = 1024

		var (
			scalars  []*big.Int
			secrets  []common.SecretKey
			keyBytes [][]byte
			set      *quorate.KeySet
			serial   uint64
			order, _ = new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
		)

		func newMessage() [32]byte {
			serial++
			return sha256.Sum256(binary.BigEndian.AppendUint64([]byte("message"), serial))
		}

		func secretOf(scalar *big.Int) common.SecretKey {
			return certain(original.SecretKeyFromBytes(scalar.FillBytes(make([]byte, 32))))
		}

		// signAll is the sum of all signatures of some owners over a message, by the sum of their secrets.
		func signAll(members []int, message [32]byte) []byte {
			sum := new(big.Int)
			for _, member := range members {
				sum.Add(sum, scalars[member])
			}
			return secretOf(sum.Mod(sum, order)).Sign(message[:]).Marshal()
		}

		func pick[T any](values []T, members []int) []T {
			picked := make([]T, len(members))
			for i, member := range members {
				picked[i] = values[member]
			}
			return picked
		}

		// A run is what is measured, for the original, the adapter and the module's own call, which can be nil. The first two
		// must not be true with other messages.
		type task struct {
			name    string
			calls   int
			prepare func() (run func(*engine, bool) bool, direct func() bool)
		}

		func sets(count int, oneMessage bool) func() (func(*engine, bool) bool, func() bool) {
			return func() (func(*engine, bool) bool, func() bool) {
				members := rand.Perm(keyCount)[:count]
				messages, signatures := make([][32]byte, count), make([][]byte, count)
				for i, member := range members {
					if messages[i] = messages[0]; i == 0 || !oneMessage {
						messages[i] = newMessage()
					}
					signatures[i] = secrets[member].Sign(messages[i][:]).Marshal()
				}
				return func(e *engine, spoil bool) bool {
					asked := messages
					if spoil {
						asked = slices.Clone(messages)
						asked[count/2][0] ^= 1
					}
					return certain(e.verifyMultiple(signatures, asked, pick(e.keys, members)))
				}, nil
			}
		}

		var tasks = []task{
			{"VerifyMultipleSignatures, 64 messages", 1, sets(64, false)},
			{"VerifyMultipleSignatures, 128 messages", 1, sets(128, false)},
			{"VerifyMultipleSignatures, 128 sets over one message", 1, sets(128, true)},
			{"the same, keys and signatures added up first, as AggregateBatch does", 1, func() (func(*engine, bool) bool, func() bool) {
				members, message := rand.Perm(keyCount)[:128], newMessage()
				signatures := make([][]byte, len(members))
				for i, member := range members {
					signatures[i] = secrets[member].Sign(message[:]).Marshal()
				}
				return func(e *engine, spoil bool) bool {
					asked := message
					if spoil {
						asked[0] ^= 1
					}
					key, sum := e.sumKeys(pick(e.keys, members)), certain(e.sumSignatureBytes(signatures))
					return certain(e.verifyMultiple([][]byte{sum.Marshal()}, [][32]byte{asked}, []common.PublicKey{key}))
				}, nil
			}},
			{"Verify", 8, func() (func(*engine, bool) bool, func() bool) {
				members, messages := rand.Perm(keyCount)[:8], make([][32]byte, 8)
				decoded := map[*engine][]common.Signature{}
				for i, member := range members {
					messages[i] = newMessage()
					for _, e := range engines {
						bytes := secrets[member].Sign(messages[i][:]).Marshal()
						decoded[e] = append(decoded[e], certain(e.signature(bytes)))
					}
				}
				return func(e *engine, spoil bool) bool {
					all := true
					for i, member := range members {
						asked := messages[i]
						if spoil {
							asked[0] ^= 1
						}
						all = decoded[e][i].Verify(e.keys[member], asked[:]) && all
					}
					return all
				}, nil
			}},
			{"FastAggregateVerify, 512 keys (direct: KeySet.Verify)", 1, func() (func(*engine, bool) bool, func() bool) {
				members, message := rand.Perm(keyCount)[:512], newMessage()
				bytes, decoded := signAll(members, message), map[*engine]common.Signature{}
				for _, e := range engines {
					decoded[e] = certain(e.signature(bytes))
				}
				return func(e *engine, spoil bool) bool {
						asked := message
						if spoil {
							asked[0] ^= 1
						}
						return decoded[e].FastAggregateVerify(pick(e.keys, members), asked)
					}, func() bool {
						return certain(set.Verify(quorate.BitmapOf(members...), message[:], bytes)).Valid()
					}
			}},
			{"AggregateMultiplePubkeys, 512 keys (direct: KeySet.Sum)", 1, func() (func(*engine, bool) bool, func() bool) {
				members := rand.Perm(keyCount)[:512]
				expected := certain(original.AggregatePublicKeys(pick(keyBytes, members))).Marshal()
				return func(e *engine, spoil bool) bool {
						return !spoil && slices.Equal(e.sumKeys(pick(e.keys, members)).Marshal(), expected)
					}, func() bool {
						return slices.Equal(certain(set.Sum(quorate.BitmapOf(members...))), expected)
					}
			}},
			{"AggregatePublicKeys, 512 encoded keys", 1, func() (func(*engine, bool) bool, func() bool) {
				members := rand.Perm(keyCount)[:512]
				expected := original.AggregateMultiplePubkeys(pick(engines[0].keys, members)).Marshal()
				return func(e *engine, spoil bool) bool {
					return !spoil && slices.Equal(certain(e.sumKeyBytes(pick(keyBytes, members))).Marshal(), expected)
				}, nil
			}},
			{"128 times SignatureFromBytesNoValidation, then AggregateSignatures", 1, func() (func(*engine, bool) bool, func() bool) {
				members, message := rand.Perm(keyCount)[:128], newMessage()
				signatures, expected := make([][]byte, len(members)), signAll(members, message)
				for i, member := range members {
					signatures[i] = secrets[member].Sign(message[:]).Marshal()
				}
				return func(e *engine, spoil bool) bool {
					decoded := make([]common.Signature, len(signatures))
					for i, bytes := range signatures {
						decoded[i] = certain(e.signatureNoChecks(bytes))
					}
					return !spoil && slices.Equal(e.sumSignatures(decoded).Marshal(), expected)
				}, nil
			}},
			{"8 attestations of 512 keys, added up, then verified (direct: Shared)", 1, func() (func(*engine, bool) bool, func() bool) {
				var members [8][]int
				messages, signatures, claims := make([][32]byte, 8), make([][]byte, 8), make([]quorate.Claim, 8)
				for i := range members {
					members[i], messages[i] = rand.Perm(keyCount)[:512], newMessage()
					signatures[i] = signAll(members[i], messages[i])
				}
				return func(e *engine, spoil bool) bool {
						keys, asked := make([]common.PublicKey, 8), slices.Clone(messages)
						for i := range members {
							keys[i] = e.sumKeys(pick(e.keys, members[i]))
						}
						if spoil {
							asked[5][0] ^= 1
						}
						return certain(e.verifyMultiple(signatures, asked, keys))
					}, func() bool {
						for i := range members {
							claims[i] = quorate.Shared(quorate.SuiteEth2, pick(keyBytes, members[i]), messages[i][:], signatures[i])
						}
						return quorate.AllValid(certain(quorate.Verify(context.Background(), claims)))
					}
			}},
		}

		func statistics(times []time.Duration) string {
			if len(times) == 0 {
				return "-"
			}
			slices.Sort(times)
			return fmt.Sprintf("%.3f (%.3f)", times[len(times)/2].Seconds()*1e3, times[0].Seconds()*1e3)
		}

		func main() {
			rounds, threads := certain(strconv.Atoi(os.Args[1])), max(1, runtime.GOMAXPROCS(0)-1)
			if os.Args[2] == "all" {
				threads = runtime.GOMAXPROCS(0)
				supranational.SetMaxProcs(threads)
			}
			for i := range keyCount {
				digest := sha256.Sum256(fmt.Appendf(nil, "secret %d", i))
				scalars = append(scalars, new(big.Int).Mod(new(big.Int).SetBytes(digest[:]), order))
				secrets = append(secrets, secretOf(scalars[i]))
				keyBytes = append(keyBytes, secrets[i].PublicKey().Marshal())
				for _, e := range engines {
					e.keys = append(e.keys, certain(e.publicKey(keyBytes[i])))
				}
			}
			probe := newMessage()
			mine := certain(adapter.SecretKeyFromBytes(secrets[0].Marshal())).Sign(probe[:]).Marshal()
			assert(slices.Equal(mine, secrets[0].Sign(probe[:]).Marshal()), "signatures differ")
			set = certain(quorate.NewKeySet(quorate.SuiteEth2))
			if err := set.PushAssumed(keyBytes...); err != nil {
				panic(err)
			}
			// Both have seen all keys.
			everyone := make([]int, keyCount)
			for i := range everyone {
				everyone[i] = i
			}
			for _, e := range engines {
				assert(certain(e.signature(signAll(everyone, probe))).FastAggregateVerify(e.keys, probe), "all keys")
			}
			fmt.Printf("GOMAXPROCS=%d, blst has %d threads, quorate all that the process may use (%d), %d rounds, %s\n",
				runtime.GOMAXPROCS(0), threads, runtime.NumCPU(), rounds, runtime.Version())
			fmt.Println("milliseconds a call, median (least):")
			fmt.Println("| | blst | quorate by the adapter | blst/quorate | quorate directly |\n|---|--:|--:|--:|--:|")
			for _, task := range tasks {
				var times [3][]time.Duration
				for round := range rounds {
					run, direct := task.prepare()
					for turn := range 3 {
						which := (round + turn) % 3
						runtime.GC()
						start, valid := time.Now(), true
						switch {
						case which < 2:
							valid = run(engines[which], false)
						case direct != nil:
							valid = direct()
						default:
							continue
						}
						times[which] = append(times[which], time.Since(start)/time.Duration(task.calls))
						assert(valid, task.name)
					}
					for _, e := range engines {
						assert(round > 0 || !run(e, true), "a false "+task.name)
					}
				}
				line := []string{statistics(times[0]), statistics(times[1]), statistics(times[2])}
				ratio := float64(times[0][len(times[0])/2]) / float64(times[1][len(times[1])/2])
				fmt.Printf("| %s | %s | %s | %.2f | %s |\n", task.name, line[0], line[1], ratio, line[2])
			}
		}
	GO
}

run_prysm() {
	local packages=(./crypto/bls/...)
	vectors=${vectors:-$root/../shared/vectors/01_eth_bls12381_tests}
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
	write_prysm_adapter crypto/bls/blst
	gofmt -w crypto/bls/blst/adapter*.go
	local different='^TestSignatureFromBytesNoValidation$/^Not_in_group$'
	run_tests "with quorate by an adapter ($(grep -c . crypto/bls/blst/adapter.go) lines)" -skip "$different" "${packages[@]}"
	run_different "every signature is checked, also where Prysm decodes it without a check" "$different" ./crypto/bls/blst

	write_prysm_comparison crypto/bls/compare
	gofmt -w crypto/bls/compare
	go build -o "$scratch/compare" ./crypto/bls/compare
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	# quorate does not look at GOMAXPROCS, but at the cores that the process may use.
	echo "one core:"
	GOMAXPROCS=1 taskset -c 0 "$scratch/compare" "$rounds" own
	echo "as the client runs, which keeps a core from blst:"
	"$scratch/compare" "$rounds" own
	echo "all cores for both:"
	"$scratch/compare" "$rounds" all
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

run_eigensdk() {
	echo "eigensdk-go $eigensdk: crypto"
	extract "$eigensdk" eigensdk go.mod go.sum crypto
	cd eigensdk
	run_tests "with gnark-crypto" ./crypto/...
	require_module
	cat > crypto/bls/quorate_test.go <<-'GO'
		package bls

		import (
			"context"
			"crypto/sha256"
			"fmt"
			"os"
			"runtime"
			"slices"
			"strconv"
			"testing"
			"time"

			"github.com/stretchr/testify/require"

			quorate "github.com/quorate/quorate/bindings/go"
		)

		// The key in G1, then that in G2 with the imaginary parts first, as the EVM has them. Serialize has the real parts first.
		func dualKey(pair *KeyPair) []byte {
			g2 := pair.GetPubKeyG2().Serialize()
			return slices.Concat(pair.GetPubKeyG1().Serialize(), g2[32:64], g2[:32], g2[96:], g2[64:96])
		}

		func report(name string, count int, times []time.Duration) {
			slices.Sort(times)
			each := func(t time.Duration) float64 { return t.Seconds() * 1e6 / float64(count) }
			median := times[len(times)/2]
			fmt.Printf("| %s | %.1f | %.1f | %.1f |\n", name, median.Seconds()*1e3, each(median), each(times[0]))
		}

		func TestQuorate(t *testing.T) {
			count, err := strconv.Atoi(os.Getenv("OPERATORS"))
			require.NoError(t, err)
			rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
			require.NoError(t, err)
			pairs, keys, encoded := make([]*KeyPair, count), make([]*G2Point, count), make([][]byte, count)
			for i := range pairs {
				pairs[i], err = GenRandomBlsKeys()
				require.NoError(t, err)
				keys[i], encoded[i] = pairs[i].GetPubKeyG2(), dualKey(pairs[i])
			}

			// Their secrets, keys and signatures are those of quorate.
			secretBytes := pairs[0].PrivKey.Bytes()
			secret, err := quorate.SecretKeyFromBytes(quorate.SuiteEigenLayer, secretBytes[:])
			require.NoError(t, err)
			defer secret.Close()
			key, err := secret.PublicKey()
			require.NoError(t, err)
			require.Equal(t, encoded[0], key.Bytes())

			warm, err := quorate.NewVerifier(quorate.Options{Threads: quorate.AllThreads})
			require.NoError(t, err)
			defer warm.Close()
			var one, single, cold, seen, sums []time.Duration
			for round := range rounds + 1 {
				message := sha256.Sum256([]byte{byte(round)})
				other := sha256.Sum256([]byte("another message"))
				wrong := (617 + 101*round) % count
				signatures, claims := make([]*Signature, count), make([]quorate.Claim, count)
				for i, pair := range pairs {
					if signatures[i] = pair.SignMessage(message); i == wrong {
						signatures[i] = pair.SignMessage(other)
					}
					claims[i] = quorate.Single(quorate.SuiteEigenLayer, encoded[i], message[:], signatures[i].Serialize())
				}
				mine, err := secret.Sign(message[:])
				require.NoError(t, err)
				require.Equal(t, pairs[0].SignMessage(message).Serialize(), mine.Bytes())

				named := func(verdicts []quorate.Verdict, err error) {
					require.NoError(t, err)
					for i, verdict := range verdicts {
						require.Equal(t, i != wrong, verdict.Valid(), "operator %d: %v", i, verdict)
					}
					require.Equal(t, quorate.VerdictMismatch, verdicts[wrong].Code)
				}
				// In turn, and each begins once.
				measures := []func(){
					func() {
						start := time.Now()
						for i, signature := range signatures {
							valid, err := signature.Verify(keys[i], message)
							require.NoError(t, err)
							require.Equal(t, i != wrong, valid)
						}
						one = append(one, time.Since(start))
					},
					func() {
						fresh, err := quorate.NewVerifier(quorate.Options{Threads: quorate.AllThreads})
						require.NoError(t, err)
						defer fresh.Close()
						start := time.Now()
						verdicts, err := fresh.Verify(context.Background(), claims)
						cold = append(cold, time.Since(start))
						named(verdicts, err)
					},
					func() {
						start := time.Now()
						verdicts, err := warm.Verify(context.Background(), claims)
						if round > 0 { // The first time reads the keys.
							seen = append(seen, time.Since(start))
						}
						named(verdicts, err)
					},
					func() {
						start := time.Now()
						for i, claim := range claims[:min(count, 50)] {
							verdict, err := warm.VerifyOne(claim.Suite, claim.PublicKeys[0], claim.Messages[0], claim.Signature)
							require.NoError(t, err)
							require.Equal(t, i != wrong, verdict.Valid())
						}
						if round > 0 {
							single = append(single, time.Since(start))
						}
					},
					func() {
						start := time.Now()
						signature, key := NewZeroSignature(), NewZeroG2Point()
						for i := range signatures {
							signature.Add(signatures[i])
							key.Add(keys[i])
						}
						valid, err := signature.Verify(key, message)
						sums = append(sums, time.Since(start))
						require.NoError(t, err)
						require.False(t, valid)
					},
				}
				for turn := range measures {
					measures[(round+turn)%len(measures)]()
				}
			}
			fmt.Printf("%d operators, one of them false, GOMAXPROCS=%d, %d cores, %d rounds, %s\n",
				count, runtime.GOMAXPROCS(0), runtime.NumCPU(), rounds, runtime.Version())
			fmt.Println("| | ms, median | µs a signature | least |\n|---|--:|--:|--:|")
			report("eigensdk-go, one by one: the false one is named", count, one)
			report("eigensdk-go, all added up: says only that not all are true", count, sums)
			report("quorate.Verify, keys seen before: the false one is named", count, seen)
			report("quorate.Verify, a new verifier, which checks all keys: the false one is named", count, cold)
			report("quorate.VerifyOne, keys seen before", min(count, 50), single)
		}
	GO
	gofmt -w crypto/bls/quorate_test.go
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	export OPERATORS=${OPERATORS:-1000} ROUNDS=$rounds
	go test -c -o "$scratch/operators" ./crypto/bls
	for within in "taskset -c 0" ""; do
		[[ -n $within ]] && echo "one core:" || echo "all cores:"
		$within "$scratch/operators" -test.run '^TestQuorate$' | grep -v '^PASS'
	done
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

run_drand() {
	vectors=${vectors:-$root/../shared/vectors/06_drand}
	echo "drand $drand: crypto"
	extract "$drand" drand go.mod go.sum common crypto internal/fs protobuf
	cd drand
	run_tests "with kyber" ./crypto
	require_module
	cat > crypto/quorate_test.go <<-'GO'
		package crypto_test

		import (
			"context"
			"encoding/hex"
			"encoding/json"
			"fmt"
			"os"
			"path/filepath"
			"runtime"
			"slices"
			"strconv"
			"testing"
			"time"

			"github.com/drand/kyber/util/random"
			"github.com/stretchr/testify/require"

			"github.com/drand/drand/v2/crypto"
			quorate "github.com/quorate/quorate/bindings/go"
		)

		var suites = map[string]quorate.Suite{
			crypto.DefaultSchemeID:            quorate.SuiteDrandChained,
			crypto.UnchainedSchemeID:          quorate.SuiteDrandUnchained,
			crypto.SigsOnG1ID:                 quorate.SuiteDrandQuicknet,
			crypto.ShortSigSchemeID:           quorate.SuiteDrandG1Legacy,
			crypto.BN254UnchainedOnG1SchemeID: quorate.SuiteDrandEvmnet,
		}

		type beacon struct {
			previous, signature []byte
			round               uint64
		}

		func (b *beacon) GetPreviousSignature() []byte { return b.previous }
		func (b *beacon) GetRound() uint64             { return b.round }
		func (b *beacon) GetSignature() []byte         { return b.signature }

		func each(times []time.Duration, count int) string {
			slices.Sort(times)
			micros := func(t time.Duration) float64 { return t.Seconds() * 1e6 / float64(count) }
			return fmt.Sprintf("%.1f (%.1f)", micros(times[len(times)/2]), micros(times[0]))
		}

		// A chain that drand signs, one beacon of which is false.
		func TestQuorateChains(t *testing.T) {
			const count = 200
			rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
			require.NoError(t, err)
			fmt.Printf("%d beacons, one of them false, GOMAXPROCS=%d, %d cores, %d rounds, %s\n",
				count, runtime.GOMAXPROCS(0), runtime.NumCPU(), rounds, runtime.Version())
			fmt.Println("µs a beacon, median (least):\n| | drand's VerifyBeacon | quorate.Verify |\n|---|--:|--:|")
			for _, name := range crypto.ListSchemes() {
				scheme, err := crypto.SchemeFromName(name)
				require.NoError(t, err)
				secret, public := scheme.AuthScheme.NewKeyPair(random.New())
				key, err := public.MarshalBinary()
				require.NoError(t, err)
				verifier, err := quorate.NewVerifier(quorate.Options{Threads: quorate.AllThreads})
				require.NoError(t, err)
				var theirs, ours []time.Duration
				for round := range rounds {
					wrong := (77 + 13*round) % count
					beacons, claims := make([]*beacon, count), make([]quorate.Claim, count)
					previous := []byte("genesis")
					for i := range beacons {
						b := &beacon{previous: previous, round: uint64(count*round + i + 1)}
						signed := *b
						if i == wrong {
							signed.round += 1_000_000
						}
						b.signature, err = scheme.AuthScheme.Sign(secret, scheme.DigestBeacon(&signed))
						require.NoError(t, err)
						beacons[i], previous = b, b.signature
					}
					measures := []func(){
						func() {
							start := time.Now()
							for i, b := range beacons {
								require.Equal(t, i != wrong, scheme.VerifyBeacon(b, public) == nil)
							}
							theirs = append(theirs, time.Since(start))
						},
						func() {
							start := time.Now()
							for i, b := range beacons {
								claims[i] = quorate.Single(suites[name], key, scheme.DigestBeacon(b), b.signature)
							}
							verdicts, err := verifier.Verify(context.Background(), claims)
							ours = append(ours, time.Since(start))
							require.NoError(t, err)
							for i, verdict := range verdicts {
								require.Equal(t, i != wrong, verdict.Valid(), "beacon %d: %v", i, verdict)
							}
						},
					}
					measures[round%2]()
					measures[1-round%2]()
				}
				require.NoError(t, verifier.Close())
				fmt.Printf("| %s | %s | %s |\n", name, each(theirs, count), each(ours, count))
			}
		}

		// Beacons of real networks: both say the same, also of another round.
		func TestQuorateRealBeacons(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(os.Getenv("VECTORS"), "*.json"))
			require.NoError(t, err)
			if len(files) == 0 {
				fmt.Println("there are no beacons of real networks, so that they are left out")
				return
			}
			text := func(digits string) []byte {
				bytes, err := hex.DecodeString(digits)
				require.NoError(t, err)
				return bytes
			}
			count, agree := 0, 0
			for _, path := range files {
				var file struct {
					Info struct {
						Scheme string `json:"schemeID"`
						Key    string `json:"public_key"`
						DST    string `json:"dst"`
					} `json:"chain_info"`
					Beacons []struct {
						Round               uint64
						Signature           string
						PreviousSignature   string `json:"previous_signature"`
					}
				}
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				if json.Unmarshal(content, &file) != nil || len(file.Beacons) == 0 {
					continue
				}
				scheme, err := crypto.SchemeFromName(file.Info.Scheme)
				require.NoError(t, err)
				key := text(file.Info.Key)
				public := scheme.KeyGroup.Point()
				require.NoError(t, public.UnmarshalBinary(key), path)
				valid := 0
				for _, read := range file.Beacons {
					for _, round := range []uint64{read.Round, read.Round + 1} {
						b := &beacon{text(read.PreviousSignature), text(read.Signature), round}
						theirs := scheme.VerifyBeacon(b, public) == nil
						verdict, err := quorate.VerifyOne(suites[scheme.Name], key, scheme.DigestBeacon(b), b.signature)
						require.NoError(t, err)
						count++
						require.Equal(t, theirs, verdict.Valid(), "%s, round %d: %v", path, round, verdict)
						agree++
						if theirs {
							require.Equal(t, read.Round, round)
							valid++
						}
					}
				}
				// One file is of a network with a DST of its own, so that none is valid.
				fmt.Printf("%s, %s, DST %s: %d of %d beacons are valid for both\n",
					filepath.Base(path), scheme.Name, file.Info.DST, valid, len(file.Beacons))
			}
			fmt.Printf("both agree on %d of %d, half of them with another round\n", agree, count)
		}
	GO
	gofmt -w crypto/quorate_test.go
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	export VECTORS=$vectors ROUNDS=$rounds
	go test -c -o "$scratch/beacons" ./crypto
	"$scratch/beacons" -test.run '^TestQuorateRealBeacons$' | grep -v '^PASS'
	for within in "taskset -c 0" ""; do
		[[ -n $within ]] && echo "one core:" || echo "all cores:"
		$within "$scratch/beacons" -test.run '^TestQuorateChains$' | grep -v '^PASS'
	done
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

case $what in
prysm) run_prysm ;;
eigensdk) run_eigensdk ;;
drand) run_drand ;;
*) sed -n '4,6s/^# //p' "$0" >&2; exit 2 ;;
esac
