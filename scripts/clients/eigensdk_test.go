package bls

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/Layr-Labs/eigensdk-go/measure"
	quorate "github.com/quorate/quorate/bindings/go"
)

// The key in G1, then that in G2 with the imaginary parts first, as the EVM has them. Serialize has the real parts first.
func dualKey(g1 *G1Point, key *G2Point) []byte {
	g2 := key.Serialize()
	return slices.Concat(g1.Serialize(), g2[32:64], g2[:32], g2[96:], g2[64:96])
}

// An operator, with the key as claims have it.
type operator struct {
	*KeyPair
	key     *G2Point
	encoded []byte
}

// Operators with random secrets.
func operators(t *testing.T, count int) []operator {
	all := make([]operator, count)
	for i := range all {
		pair, err := GenRandomBlsKeys()
		require.NoError(t, err)
		key := pair.GetPubKeyG2()
		all[i] = operator{pair, key, dualKey(pair.GetPubKeyG1(), key)}
	}
	return all
}

var serial uint64

// A digest, as operators sign one. Of two numbers that follow each other, half would have one point of the curve, because EigenLayer's map
// counts up from the message to the next coordinate of a point: a signature of one is then true of the other.
func newMessage() [32]byte {
	serial++
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, serial))
}

// Their secrets, keys and signatures are those of quorate.
func TestQuorateAgrees(t *testing.T) {
	for _, operator := range operators(t, 20) {
		bytes := operator.PrivKey.Bytes()
		secret, err := quorate.SecretKeyFromBytes(quorate.SuiteEigenLayer, bytes[:])
		require.NoError(t, err)
		key, err := secret.PublicKey()
		require.NoError(t, err)
		require.Equal(t, operator.encoded, key.Bytes())
		message := newMessage()
		signature, err := secret.Sign(message[:])
		require.NoError(t, err)
		require.Equal(t, operator.SignMessage(message).Serialize(), signature.Bytes())
		require.NoError(t, secret.Close())
	}
}

// Operators' signatures, of which one may be false, which every column names that looks for it.
func TestQuorateMeasured(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv("OPERATORS"))
	require.NoError(t, err)
	all := operators(t, max(many, 128))
	// Each has seen the keys, and neither the hashes of the other.
	newVerifier := func() *quorate.Verifier {
		verifier, err := quorate.NewVerifier(quorate.Options{Threads: quorate.AllThreads})
		require.NoError(t, err)
		return verifier
	}
	single, seen := newVerifier(), newVerifier()
	defer single.Close()
	defer seen.Close()

	measure.Head("eigensdk-go, one by one", "quorate, one by one", "quorate, in one call", "the same, keys never seen before", "eigensdk-go, added up")
	row := func(name string, count int, oneMessage, oneIsFalse bool) {
		measure.Row(name, func(round int) []func() {
			wrong := -1
			if oneIsFalse {
				wrong = (617 + 101*round) % count
			}
			messages, signatures, claims := make([][32]byte, count), make([]*Signature, count), make([]quorate.Claim, count)
			for i := range signatures {
				if messages[i] = messages[0]; i == 0 || !oneMessage {
					messages[i] = newMessage()
				}
				if signatures[i] = all[i].SignMessage(messages[i]); i == wrong {
					signatures[i] = all[i].SignMessage(newMessage())
				}
				claims[i] = quorate.Single(quorate.SuiteEigenLayer, all[i].encoded, messages[i][:], signatures[i].Serialize())
			}
			inOneCall := func(verifier *quorate.Verifier) {
				verdicts, err := verifier.Verify(context.Background(), claims)
				require.NoError(t, err)
				for i, verdict := range verdicts {
					require.Equal(t, i != wrong, verdict.Valid(), "operator %d: %v", i, verdict)
				}
			}
			calls := []func(){
				func() {
					for i, signature := range signatures {
						valid, err := signature.Verify(all[i].key, messages[i])
						require.NoError(t, err)
						require.Equal(t, i != wrong, valid)
					}
				},
				func() {
					for i, claim := range claims {
						verdict, err := single.VerifyOne(claim.Suite, claim.PublicKeys[0], claim.Messages[0], claim.Signature)
						require.NoError(t, err)
						require.Equal(t, i != wrong, verdict.Valid())
					}
				},
				func() { inOneCall(seen) },
				func() {
					fresh := newVerifier()
					defer fresh.Close()
					inOneCall(fresh)
				},
			}
			if oneMessage {
				// It says whether all are true, and not which one is false.
				calls = append(calls, func() {
					signature, key := NewZeroSignature(), NewZeroG2Point()
					for i := range signatures {
						signature.Add(signatures[i])
						key.Add(all[i].key)
					}
					valid, err := signature.Verify(key, messages[0])
					require.NoError(t, err)
					require.Equal(t, wrong < 0, valid)
				})
			}
			return calls
		})
	}
	row("1 signature", 1, false, false)
	row("64 messages", 64, false, false)
	row("128 messages", 128, false, false)
	row("64 signatures of one message", 64, true, false)
	row("128 signatures of one message", 128, true, false)
	row(fmt.Sprintf("%d signatures of one message, one of them false", many), many, true, true)
}
