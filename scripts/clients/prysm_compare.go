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
	fmt.Printf("GOMAXPROCS=%d, which is the most threads that quorate takes, blst has %d threads, %d rounds, %s\n",
		runtime.GOMAXPROCS(0), threads, rounds, runtime.Version())
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
