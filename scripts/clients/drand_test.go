package crypto_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/drand/kyber"
	"github.com/drand/kyber/sign"
	signing "github.com/drand/kyber/sign/test"
	"github.com/drand/kyber/util/random"
	"github.com/stretchr/testify/require"

	"github.com/drand/drand/v2/crypto"
	"github.com/drand/drand/v2/measure"
)

type beacon struct {
	previous, signature []byte
	round               uint64
}

func (b *beacon) GetPreviousSignature() []byte { return b.previous }
func (b *beacon) GetRound() uint64             { return b.round }
func (b *beacon) GetSignature() []byte         { return b.signature }

// A scheme of drand, and the same over quorate.
func both(t *testing.T, name string) (kyberScheme, quorateScheme *crypto.Scheme) {
	kyberScheme, err := crypto.SchemeFromName(name)
	require.NoError(t, err)
	quorateScheme, err = crypto.SchemeFromName(name)
	require.NoError(t, err)
	_, isOurs := kyberScheme.AuthScheme.(crypto.Quorate)
	require.False(t, isOurs, "drand's own schemes have changed already")
	return kyberScheme, crypto.OverQuorate(quorateScheme)
}

// What kyber demands of schemes, of all five over quorate.
func TestQuorateSchemes(t *testing.T) {
	for _, name := range crypto.ListSchemes() {
		t.Run(name, func(t *testing.T) {
			theirs, ours := both(t, name)
			signing.SchemeTesting(t, ours.AuthScheme)
			signing.ThresholdTest(t, ours.KeyGroup, ours.ThresholdScheme)
			secret, _ := theirs.AuthScheme.NewKeyPair(random.New())
			expected, err := theirs.AuthScheme.Sign(secret, []byte("message"))
			require.NoError(t, err)
			found, err := ours.AuthScheme.Sign(secret, []byte("message"))
			require.NoError(t, err)
			require.Equal(t, expected, found)
		})
	}
}

// A chain that drand signs, and partial signatures of one message; once with a false one, which both name.
func TestQuorateMeasured(t *testing.T) {
	measure.Head("kyber, one by one", "quorate, one by one", "quorate, in one call")
	for _, name := range crypto.ListSchemes() {
		theirs, ours := both(t, name)
		const most = 128
		secrets, publics := make([]kyber.Scalar, most), make([]kyber.Point, most)
		for i := range secrets {
			secrets[i], publics[i] = theirs.AuthScheme.NewKeyPair(random.New())
		}
		serial := uint64(0)
		// The keys that sign, the messages and the signatures, of which the one at `wrong` is of another round.
		signed := func(count int, oneMessage bool, wrong int) (keys []kyber.Point, messages, signatures [][]byte) {
			previous := []byte("genesis")
			serial++
			for i := range count {
				member := 0
				if oneMessage {
					member = i
				} else {
					serial++
				}
				b := &beacon{previous: previous, round: serial}
				message := theirs.DigestBeacon(b)
				if i == wrong {
					b.round += 1_000_000
				}
				signature, err := theirs.AuthScheme.Sign(secrets[member], theirs.DigestBeacon(b))
				require.NoError(t, err)
				if !oneMessage {
					previous = signature
				}
				keys, messages, signatures = append(keys, publics[member]), append(messages, message), append(signatures, signature)
			}
			return keys, messages, signatures
		}
		row := func(title string, count int, oneMessage, oneIsFalse bool) {
			measure.Row(name+", "+title, func(round int) []func() {
				wrong := -1
				if oneIsFalse {
					wrong = (77 + 13*round) % count
				}
				oneByOne := func(scheme sign.Scheme) func() {
					keys, messages, signatures := signed(count, oneMessage, wrong)
					return func() {
						for i, key := range keys {
							require.Equal(t, i != wrong, scheme.Verify(key, messages[i], signatures[i]) == nil)
						}
					}
				}
				keys, messages, signatures := signed(count, oneMessage, wrong)
				return []func(){oneByOne(theirs.AuthScheme), oneByOne(ours.AuthScheme), func() {
					each, err := ours.AuthScheme.(crypto.Quorate).VerifyEach(keys, messages, signatures)
					require.NoError(t, err)
					for i := range keys {
						require.Equal(t, i != wrong, each[i] == nil)
					}
				}}
			})
		}
		row("1 beacon", 1, false, false)
		row("64 beacons", 64, false, false)
		row("128 beacons", 128, false, false)
		row("200 beacons, one of them false", 200, false, true)
		row("64 signatures of one message", 64, true, false)
		row("128 signatures of one message", 128, true, false)
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
	count := 0
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
		theirs, ours := both(t, file.Info.Scheme)
		public := theirs.KeyGroup.Point()
		require.NoError(t, public.UnmarshalBinary(text(file.Info.Key)), path)
		valid := 0
		for _, read := range file.Beacons {
			for _, round := range []uint64{read.Round, read.Round + 1} {
				b := &beacon{text(read.PreviousSignature), text(read.Signature), round}
				holds := theirs.VerifyBeacon(b, public) == nil
				require.Equal(t, holds, ours.VerifyBeacon(b, public) == nil, "%s, round %d", path, round)
				count++
				if holds {
					require.Equal(t, read.Round, round)
					valid++
				}
			}
		}
		// One file is of a network with a DST of its own, so that none is valid.
		fmt.Printf("%s, %s, DST %s: %d of %d beacons are valid for both\n",
			filepath.Base(path), theirs.Name, file.Info.DST, valid, len(file.Beacons))
	}
	fmt.Printf("both agree on %d beacons, half of them with another round\n", count)
}
