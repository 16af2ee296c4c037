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
