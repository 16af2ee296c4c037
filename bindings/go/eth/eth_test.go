package eth

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	quorate "github.com/quorate/quorate/bindings/go"
)

// signer is a key that signed a message.
type signer struct {
	secret SecretKey
	key    PublicKey
	sig    Signature
	msg    [32]byte
}

// signers are keys of which each signed a message of its own, or all of them one.
func signers(t testing.TB, count int, oneMessage bool) (all []signer, keys []PublicKey, sigs []Signature, msgs [][32]byte) {
	t.Helper()
	for i := range count {
		secret, err := SecretKeyFromBytes(append(make([]byte, 31), byte(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		var msg [32]byte
		if !oneMessage {
			msg[0] = byte(i)
		}
		one := signer{secret, secret.PublicKey(), secret.Sign(msg[:]), msg}
		all, keys, sigs, msgs = append(all, one), append(keys, one.key), append(sigs, one.sig), append(msgs, msg)
	}
	return all, keys, sigs, msgs
}

func marshaled(sigs []Signature) [][]byte {
	encoded := make([][]byte, len(sigs))
	for i, sig := range sigs {
		encoded[i] = sig.Marshal()
	}
	return encoded
}

// foreign is a key of another implementation.
type foreign struct {
	PublicKey
	bytes []byte
}

func (f foreign) Marshal() []byte {
	return f.bytes
}

// wrapped is a key in a type of the client's own, of which this package sees the methods alone.
type wrapped struct {
	PublicKey
}

// infinite is the identity as a signature.
func infinite(t testing.TB) Signature {
	t.Helper()
	sig, err := SignatureFromBytes(append([]byte{0xc0}, make([]byte, 95)...))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func TestKeys(t *testing.T) {
	secret, err := RandKey()
	if err != nil {
		t.Fatal(err)
	}
	again, err := SecretKeyFromBytes(secret.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	if len(secret.Marshal()) != 32 || !again.PublicKey().Equals(secret.PublicKey()) {
		t.Error("the secret that was read is another one")
	}
	if text := fmt.Sprintf("%v %s", secret, secret); strings.Contains(text, hex.EncodeToString(secret.Marshal())) {
		t.Errorf("found %s", text)
	}
	for _, raw := range [][]byte{nil, make([]byte, 32), bytes.Repeat([]byte{255}, 32), make([]byte, 31)} {
		if secret, err := SecretKeyFromBytes(raw); secret != nil || !errors.Is(err, quorate.ErrEncoding) {
			t.Errorf("%x: found %v, %v", raw, secret, err)
		}
	}
	key, err := PublicKeyFromBytes(secret.PublicKey().Marshal())
	if err != nil || !key.Equals(secret.PublicKey()) || key.IsInfinite() || key.Equals(nil) {
		t.Errorf("found %v, %v", key, err)
	}
	for _, raw := range [][]byte{nil, key.Marshal()[1:], identityKey[:], make([]byte, 48)} {
		if key, err := PublicKeyFromBytes(raw); key != nil || !errors.Is(err, quorate.ErrEncoding) {
			t.Errorf("%x: found %v, %v", raw, key, err)
		}
	}
	keys, err := MultiplePublicKeysFromBytes([][]byte{key.Marshal(), key.Marshal()})
	if err != nil || len(keys) != 2 || !keys[1].Equals(key) {
		t.Errorf("found %v, %v", keys, err)
	}
	if keys, err := MultiplePublicKeysFromBytes([][]byte{key.Marshal(), nil}); keys != nil || !errors.Is(err, quorate.ErrEncoding) || !strings.Contains(err.Error(), "key 1") {
		t.Errorf("found %v, %v", keys, err)
	}
}

func TestSignatures(t *testing.T) {
	all, _, sigs, _ := signers(t, 2, false)
	one, other := all[0], all[1]
	if !one.sig.Verify(one.key, one.msg[:]) {
		t.Error("a true signature is not valid")
	}
	for name, valid := range map[string]bool{
		"message": one.sig.Verify(one.key, other.msg[:]), "key": one.sig.Verify(other.key, one.msg[:]),
		"signature": other.sig.Verify(one.key, one.msg[:]), "nil": one.sig.Verify(nil, one.msg[:]),
		"foreign":  one.sig.Verify(foreign{bytes: []byte("no key")}, one.msg[:]),
		"identity": one.sig.Verify(&publicKey{encoding: identityKey}, one.msg[:]),
		"both":     infinite(t).Verify(&publicKey{encoding: identityKey}, one.msg[:]),
		"blank":    NewAggregateSignature().Verify(one.key, one.msg[:]),
	} {
		if valid {
			t.Errorf("%s: it is valid", name)
		}
	}
	if !one.sig.Verify(foreign{bytes: one.key.Marshal()}, one.msg[:]) {
		t.Error("a key of another implementation is not taken")
	}
	sig, err := SignatureFromBytes(one.sig.Marshal())
	if err != nil || !sig.Verify(one.key, one.msg[:]) || !sig.Copy().Verify(one.key, one.msg[:]) {
		t.Errorf("found %v, %v", sig, err)
	}
	if sig, err = SignatureFromBytesNoValidation(one.sig.Marshal()); err != nil || !sig.Verify(one.key, one.msg[:]) {
		t.Errorf("found %v, %v", sig, err)
	}
	if AggregateSignatures([]Signature{&signature{}, one.sig}) != nil || AggregateSignatures(nil) != nil || AggregateSignatures([]Signature{nil}) != nil {
		t.Error("there is a sum of what does not decode")
	}
	for _, raw := range [][]byte{nil, make([]byte, 96), sig.Marshal()[1:]} {
		if sig, err := SignatureFromBytes(raw); sig != nil || !errors.Is(err, quorate.ErrEncoding) {
			t.Errorf("%x: found %v, %v", raw, sig, err)
		}
	}
	for _, raw := range [][]byte{nil, make([]byte, 96)} {
		if sig, err := SignatureFromBytesNoValidation(raw); sig != nil || !errors.Is(err, quorate.ErrEncoding) {
			t.Errorf("%x: found %v, %v", raw, sig, err)
		}
	}
	several, err := MultipleSignaturesFromBytes(marshaled(sigs))
	if err != nil || len(several) != 2 || !several[1].Verify(other.key, other.msg[:]) {
		t.Errorf("found %v, %v", several, err)
	}
	if several, err := MultipleSignaturesFromBytes([][]byte{sigs[0].Marshal(), nil}); several != nil || !errors.Is(err, quorate.ErrEncoding) {
		t.Errorf("found %v, %v", several, err)
	}
	if several, err := MultipleSignaturesFromBytes(nil); several != nil || !errors.Is(err, quorate.ErrMisuse) {
		t.Errorf("found %v, %v", several, err)
	}
	if !VerifyCompressed(one.sig.Marshal(), one.key.Marshal(), one.msg[:]) || VerifyCompressed(one.sig.Marshal(), one.key.Marshal(), nil) ||
		VerifyCompressed(nil, nil, nil) {
		t.Error("VerifyCompressed is wrong")
	}
	for _, c := range []struct {
		sig   []byte
		msg   [32]byte
		valid bool
		err   error
	}{{one.sig.Marshal(), one.msg, true, nil}, {one.sig.Marshal(), other.msg, false, nil}, {nil, one.msg, false, quorate.ErrEncoding}} {
		if valid, err := VerifySignature(c.sig, c.msg, one.key); valid != c.valid || !errors.Is(err, c.err) {
			t.Errorf("found %v, %v, expected %v, %v", valid, err, c.valid, c.err)
		}
	}
}

func TestAggregatesOverDistinctMessages(t *testing.T) {
	_, keys, sigs, msgs := signers(t, 5, false)
	sum := AggregateSignatures(sigs)
	if !sum.AggregateVerify(keys, msgs) {
		t.Error("a true aggregate is not valid")
	}
	compressed, err := AggregateCompressedSignatures(marshaled(sigs))
	if err != nil || !bytes.Equal(compressed.Marshal(), sum.Marshal()) {
		t.Errorf("found %v, %v", compressed, err)
	}
	if sum.AggregateVerify(keys[1:], msgs[1:]) || sum.AggregateVerify(keys, msgs[1:]) || sum.AggregateVerify(nil, nil) ||
		NewAggregateSignature().AggregateVerify(nil, nil) || infinite(t).AggregateVerify(nil, nil) || AggregateSignatures(sigs[1:]).AggregateVerify(keys, msgs) {
		t.Error("a false aggregate is valid")
	}
}

func TestAggregatesOverOneMessage(t *testing.T) {
	_, keys, sigs, msgs := signers(t, 5, true)
	sum, msg := AggregateSignatures(sigs), msgs[0]
	if !sum.FastAggregateVerify(keys, msg) || !sum.Eth2FastAggregateVerify(keys, msg) || !sum.Verify(AggregateMultiplePubkeys(keys), msg[:]) {
		t.Error("a true aggregate is not valid")
	}
	other := [32]byte{1}
	for name, valid := range map[string]bool{
		"message": sum.FastAggregateVerify(keys, other), "fewer": sum.FastAggregateVerify(keys[1:], msg), "none": sum.FastAggregateVerify(nil, msg),
		"none and blank":     NewAggregateSignature().FastAggregateVerify(nil, msg),
		"none and infinite":  infinite(t).FastAggregateVerify(nil, msg),
		"sync message":       sum.Eth2FastAggregateVerify(keys, other),
		"sync none":          sum.Eth2FastAggregateVerify(nil, msg),
		"sync blank":         NewAggregateSignature().Eth2FastAggregateVerify(keys, msg),
		"sync none, blank":   NewAggregateSignature().Eth2FastAggregateVerify(nil, msg),
		"sync infinite":      infinite(t).Eth2FastAggregateVerify(keys, msg),
		"both infinite":      infinite(t).FastAggregateVerify([]PublicKey{&publicKey{encoding: identityKey}}, msg),
		"sync both infinite": infinite(t).Eth2FastAggregateVerify([]PublicKey{&publicKey{encoding: identityKey}}, msg),
	} {
		if valid {
			t.Errorf("%s: it is valid", name)
		}
	}
	if !infinite(t).Eth2FastAggregateVerify(nil, msg) {
		t.Error("a sync aggregate without participants is not valid")
	}
}

func TestSumsOfKeys(t *testing.T) {
	all, keys, _, _ := signers(t, 3, true)
	sum := AggregateMultiplePubkeys(keys)
	copied := keys[0].Copy()
	if added := copied.Aggregate(keys[1]).Aggregate(keys[2]); !added.Equals(sum) || !copied.Equals(sum) || keys[0].Equals(sum) {
		t.Error("the sums differ, or a copy changed what it was copied from")
	}
	fromBytes, err := AggregatePublicKeys([][]byte{keys[0].Marshal(), keys[1].Marshal(), keys[2].Marshal()})
	if err != nil || !fromBytes.Equals(sum) {
		t.Errorf("found %v, %v", fromBytes, err)
	}
	if key, err := AggregatePublicKeys(nil); key != nil || !errors.Is(err, quorate.ErrMisuse) {
		t.Errorf("found %v, %v", key, err)
	}

	// The secret r - 1 has the negated key of the secret 1.
	order, _ := hex.DecodeString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000")
	negated, err := SecretKeyFromBytes(order)
	if err != nil {
		t.Fatal(err)
	}
	minus := negated.PublicKey()
	both := AggregateMultiplePubkeys([]PublicKey{keys[0], minus})
	if !both.IsInfinite() || !AggregateMultiplePubkeys(nil).IsInfinite() {
		t.Error("keys that cancel each other do not add up to the identity")
	}
	cancelled := keys[0].Copy().Aggregate(minus)
	if !cancelled.IsInfinite() {
		t.Error("a key and the negated key do not add up to the identity")
	}
	if !cancelled.Aggregate(keys[1]).Equals(keys[1]) || !cancelled.Aggregate(&publicKey{encoding: identityKey}).Equals(keys[1]) {
		t.Error("the identity changes a sum")
	}
	if !keys[2].Copy().Aggregate(nil).IsInfinite() || !keys[2].Copy().Aggregate(foreign{bytes: []byte("no key")}).IsInfinite() ||
		!(&publicKey{encoding: identityKey}).Aggregate(foreign{bytes: make([]byte, 48)}).IsInfinite() {
		t.Error("what is not a key was added")
	}
	// Signatures of keys that cancel each other prove nothing.
	blank := AggregateSignatures([]Signature{all[0].sig, negated.Sign(all[0].msg[:])})
	if blank.FastAggregateVerify([]PublicKey{keys[0], minus}, [32]byte{9}) || !bytes.Equal(blank.Marshal(), infinite(t).Marshal()) {
		t.Error("a cancelling pair is valid")
	}
}

func TestABrokenSumStaysBroken(t *testing.T) {
	all, keys, _, _ := signers(t, 2, true)
	a, c := keys[0], all[1]
	identity := &publicKey{encoding: identityKey}
	noKey := foreign{bytes: make([]byte, 48)}
	for name, broken := range map[string]PublicKey{
		"nil":               a.Copy().Aggregate(nil),
		"foreign":           a.Copy().Aggregate(foreign{bytes: []byte("no key")}),
		"to the identity":   identity.Copy().Aggregate(noKey),
		"several":           AggregateMultiplePubkeys([]PublicKey{a, nil}),
		"several, foreign":  AggregateMultiplePubkeys([]PublicKey{noKey, a}),
		"a broken one":      a.Copy().Aggregate(a.Copy().Aggregate(nil)),
		"several, a broken": AggregateMultiplePubkeys([]PublicKey{a, a.Copy().Aggregate(nil)}),
	} {
		for how, sum := range map[string]PublicKey{
			"alone":             broken,
			"first":             broken.Copy().Aggregate(c.key),
			"second":            c.key.Copy().Aggregate(broken),
			"together":          AggregateMultiplePubkeys([]PublicKey{c.key, broken}),
			"wrapped":           wrapped{broken},
			"wrapped, first":    wrapped{broken.Copy()}.Aggregate(c.key),
			"wrapped, second":   c.key.Copy().Aggregate(wrapped{broken}),
			"wrapped, together": AggregateMultiplePubkeys([]PublicKey{wrapped{broken}, c.key}),
			"copied":            broken.Copy().Aggregate(identity).Copy().Aggregate(c.key),
		} {
			if !sum.IsInfinite() || !bytes.Equal(sum.Marshal(), brokenKey[:]) || sum.Equals(identity) || identity.Equals(sum) {
				t.Errorf("%s, %s: it is a key", name, how)
			}
			valid, err := VerifySignature(c.sig.Marshal(), c.msg, sum)
			if valid || err == nil || c.sig.Verify(sum, c.msg[:]) || c.sig.FastAggregateVerify([]PublicKey{c.key, sum}, c.msg) ||
				infinite(t).Eth2FastAggregateVerify([]PublicKey{sum}, c.msg) {
				t.Errorf("%s, %s: a signature is valid under it", name, how)
			}
		}
	}
	// The identity is no fault, and adds nothing.
	if !AggregateMultiplePubkeys(nil).Aggregate(c.key).Equals(c.key) || !AggregateMultiplePubkeys([]PublicKey{identity, c.key}).Equals(c.key) ||
		!AggregateMultiplePubkeys([]PublicKey{wrapped{identity}, c.key}).Equals(c.key) {
		t.Error("the identity changes a sum")
	}
}

func TestManySignatures(t *testing.T) {
	for _, oneMessage := range []bool{false, true} {
		_, keys, sigs, msgs := signers(t, 9, oneMessage)
		encoded := marshaled(sigs)
		if valid, err := VerifyMultipleSignatures(encoded, msgs, keys); !valid || err != nil {
			t.Errorf("found %v, %v", valid, err)
		}
		// Two signatures swapped have the same sum, and are both false.
		encoded[3], encoded[4] = encoded[4], encoded[3]
		if valid, err := VerifyMultipleSignatures(encoded, msgs, keys); valid || err != nil {
			t.Errorf("found %v, %v", valid, err)
		}
		verdicts, err := VerifyEach(encoded, msgs, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, verdict := range verdicts {
			if verdict.Valid() == (i == 3 || i == 4) {
				t.Errorf("signature %d: found %v", i, verdict)
			}
		}
		encoded[4] = nil
		if valid, err := VerifyMultipleSignatures(encoded, msgs, keys); valid || err != nil {
			t.Errorf("found %v, %v", valid, err)
		}
		if valid, err := VerifyMultipleSignatures(encoded, msgs[1:], keys); valid || !errors.Is(err, quorate.ErrMisuse) {
			t.Errorf("found %v, %v", valid, err)
		}
		if valid, err := VerifyMultipleSignatures(nil, nil, nil); valid || err != nil {
			t.Errorf("found %v, %v for nothing", valid, err)
		}
	}
}

func TestASyncAggregateOfMainnet(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "..", "examples", "claims.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var row struct {
		PublicKeys []string `json:"public_keys"`
		Message    string   `json:"message"`
		Signature  string   `json:"signature"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		t.Fatal(err)
	}
	unhex := func(digits string) []byte {
		bytes, err := hex.DecodeString(strings.TrimPrefix(digits, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	var encoded [][]byte
	for _, key := range row.PublicKeys {
		encoded = append(encoded, unhex(key))
	}
	keys, err := MultiplePublicKeysFromBytes(encoded)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := SignatureFromBytes(unhex(row.Signature))
	if err != nil {
		t.Fatal(err)
	}
	msg := [32]byte(unhex(row.Message))
	if len(keys) != 512 || !sig.Eth2FastAggregateVerify(keys, msg) || !sig.FastAggregateVerify(keys, msg) {
		t.Error("it is not valid")
	}
	if sig.Eth2FastAggregateVerify(keys[1:], msg) {
		t.Error("it is valid without a participant")
	}
}
