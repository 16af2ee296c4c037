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
				Round             uint64
				Signature         string
				PreviousSignature string `json:"previous_signature"`
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
