package tbls_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/obolnetwork/charon/tbls"
	quorate "github.com/quorate/quorate/bindings/go"
)

func TestQuorateImplementation(t *testing.T) {
	runSuite(t, tbls.Quorate{})
}

// Each call is made by one of the two, so that what one makes is read by the other.
func TestQuorateRandomized(t *testing.T) {
	runSuite(t, randomizedImpl{implementations: []tbls.Implementation{tbls.Herumi{}, tbls.Quorate{}}})
}

// Both refuse what is false, or is no key or signature.
func TestQuorateRefuses(t *testing.T) {
	secret, err := tbls.Herumi{}.GenerateSecretKey()
	require.NoError(t, err)
	for _, impl := range []tbls.Implementation{tbls.Herumi{}, tbls.Quorate{}} {
		key, err := impl.SecretToPublicKey(secret)
		require.NoError(t, err)
		signature, err := impl.Sign(secret, []byte("data"))
		require.NoError(t, err)
		require.ErrorIs(t, impl.Verify(key, []byte("other"), signature), tbls.ErrSigNotVerified)
		require.Error(t, impl.Verify(tbls.PublicKey{}, []byte("data"), signature))
		require.Error(t, impl.Verify(key, []byte("data"), tbls.Signature{1}))
		require.Error(t, impl.VerifyAggregate([]tbls.PublicKey{key}, signature, []byte("other")))
		require.Error(t, impl.VerifyAggregate(nil, signature, []byte("data")))
		_, err = impl.SecretToPublicKey(tbls.PrivateKey{0xff})
		require.Error(t, err)
		_, err = impl.Sign(tbls.PrivateKey(slices.Repeat([]byte{0xff}, 32)), []byte("data"))
		require.Error(t, err)
		_, err = impl.Aggregate([]tbls.Signature{{1}})
		require.Error(t, err)
	}
}

// What a cluster's node does with the partial signatures of its peers, one of which is false.
func TestQuorateMeasured(t *testing.T) {
	const count, committee = 128, 512
	rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
	require.NoError(t, err)
	secrets, keys := make([]tbls.PrivateKey, committee), make([]tbls.PublicKey, committee)
	for i := range secrets {
		secrets[i], err = tbls.Herumi{}.GenerateSecretKey()
		require.NoError(t, err)
		keys[i], err = tbls.Herumi{}.SecretToPublicKey(secrets[i])
		require.NoError(t, err)
	}
	serial := uint64(0)
	newMessage := func() []byte {
		serial++
		digest := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("message"), serial))
		return digest[:]
	}
	sign := func(member int, message []byte) tbls.Signature {
		signature, err := tbls.Herumi{}.Sign(secrets[member], message)
		require.NoError(t, err)
		return signature
	}
	verifier, err := quorate.NewVerifier(quorate.Options{Threads: quorate.AllThreads})
	require.NoError(t, err)
	defer verifier.Close()

	fmt.Printf("GOMAXPROCS=%d, %d cores, %d rounds, %s\n", runtime.GOMAXPROCS(0), runtime.NumCPU(), rounds, runtime.Version())
	fmt.Println("| ms, median (least) | Herumi | Quorate | quorate.Verify |\n|---|--:|--:|--:|")
	measure := func(name string, prepare func(round int) []func()) {
		var times [3][]time.Duration
		// The first round reads the keys.
		for round := range rounds + 1 {
			calls := prepare(round)
			for turn := range calls {
				call := (round + turn) % len(calls)
				start := time.Now()
				calls[call]()
				if round > 0 {
					times[call] = append(times[call], time.Since(start))
				}
			}
		}
		fmt.Printf("| %s ", name)
		for _, all := range times {
			if slices.Sort(all); len(all) == 0 {
				fmt.Print("| - ")
				continue
			}
			fmt.Printf("| %.2f (%.2f) ", all[len(all)/2].Seconds()*1e3, all[0].Seconds()*1e3)
		}
		fmt.Println("|")
	}
	for _, oneMessage := range []bool{false, true} {
		name := map[bool]string{false: "128 partial signatures, each over its message", true: "the same over one message"}[oneMessage]
		measure(name, func(round int) []func() {
			wrong, messages, signatures, claims := 7*round%count, make([][]byte, count), make([]tbls.Signature, count), make([]quorate.Claim, count)
			for i := range count {
				if messages[i] = messages[0]; i == 0 || !oneMessage {
					messages[i] = newMessage()
				}
				signed := messages[i]
				if i == wrong {
					signed = newMessage()
				}
				signatures[i] = sign(i, signed)
				claims[i] = quorate.Single(quorate.SuiteEth2, keys[i][:], messages[i], signatures[i][:])
			}
			by := func(impl tbls.Implementation) func() {
				return func() {
					for i := range count {
						require.Equal(t, i != wrong, impl.Verify(keys[i], messages[i], signatures[i]) == nil)
					}
				}
			}
			return []func(){by(tbls.Herumi{}), by(tbls.Quorate{}), func() {
				verdicts, err := verifier.Verify(context.Background(), claims)
				require.NoError(t, err)
				for i, verdict := range verdicts {
					require.Equal(t, i != wrong, verdict.Valid())
				}
			}}
		})
	}
	measure("VerifyAggregate, 512 keys", func(int) []func() {
		message, signatures := newMessage(), make([]tbls.Signature, committee)
		for i := range signatures {
			signatures[i] = sign(i, message)
		}
		sum, err := tbls.Herumi{}.Aggregate(signatures)
		require.NoError(t, err)
		mine, err := tbls.Quorate{}.Aggregate(signatures)
		require.NoError(t, err)
		require.Equal(t, sum, mine)
		by := func(impl tbls.Implementation) func() {
			return func() { require.NoError(t, impl.VerifyAggregate(keys, sum, message)) }
		}
		return []func(){by(tbls.Herumi{}), by(tbls.Quorate{})}
	})
}
