package quorate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSecretKeys(t *testing.T) {
	for suite := range suiteNames {
		secret, err := GenerateSecretKey(suite)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := secret.Bytes()
		if err != nil || len(raw) != 32 {
			t.Fatalf("%s: found %d bytes, %v", suite, len(raw), err)
		}
		again, err := SecretKeyFromBytes(suite, raw)
		if err != nil {
			t.Fatal(err)
		}
		key := keyOf(t, secret)
		if len(key) != suite.PublicKeyLength() || !bytes.Equal(key, keyOf(t, again)) || again.Suite() != suite {
			t.Errorf("%s: the secret that was read is another one", suite)
		}
		signature := signed(t, secret, messageOf(1))
		if len(signature) != suite.SignatureLength() || !bytes.Equal(signature, signed(t, again, messageOf(1))) {
			t.Errorf("%s: the signatures differ", suite)
		}
		if verdict, err := VerifyOne(suite, key, messageOf(1), signature); err != nil || !verdict.Valid() {
			t.Errorf("%s: found %v, %v", suite, verdict, err)
		}
		for _, secret := range []*SecretKey{secret, again} {
			if err := secret.Close(); err != nil {
				t.Error(err)
			}
		}
		_, sign := again.Sign(nil)
		_, public := again.PublicKey()
		_, prove := again.Prove()
		_, read := again.Bytes()
		for i, err := range []error{sign, public, prove, read, again.Close()} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: call %d after Close: found %v", suite, i, err)
			}
		}
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	for _, raw := range [][]byte{nil, make([]byte, 31), make([]byte, 32), make([]byte, 33), bytes.Repeat([]byte{0xff}, 32)} {
		if _, err := SecretKeyFromBytes(SuiteEth2, raw); !errors.Is(err, ErrEncoding) {
			t.Errorf("%x: found %v", raw, err)
		}
	}
	if _, err := DeriveSecretKey(SuiteEth2, make([]byte, 31), nil); !errors.Is(err, ErrEncoding) {
		t.Errorf("found %v", err)
	}
	if _, err := secretOf(t, SuiteEigenLayer, 1).Sign([]byte("short")); !errors.Is(err, ErrMisuse) {
		t.Errorf("found %v", err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	secret := secretOf(t, SuiteEth2, 1)
	raw, err := secret.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if text := fmt.Sprintf(format, secret); strings.Contains(text, hex.EncodeToString(raw)) || strings.Contains(text, string(raw)) {
			t.Errorf("%s prints the secret", format)
		}
	}
	if secret.String() != "secret key of eth2" {
		t.Errorf("found %s", secret)
	}
}

func TestKeysAndSignaturesAreChecked(t *testing.T) {
	secret := secretOf(t, SuiteEth2, 1)
	key, signature := keyOf(t, secret), signed(t, secret, nil)
	checkedKey, err := NewPublicKey(SuiteEth2, key)
	if err != nil || !bytes.Equal(checkedKey.Bytes(), key) || checkedKey.Suite() != SuiteEth2 || checkedKey.String() != hex.EncodeToString(key) {
		t.Errorf("found %v, %v", checkedKey, err)
	}
	checkedSignature, err := NewSignature(SuiteEth2, signature)
	if err != nil || !bytes.Equal(checkedSignature.Bytes(), signature) || checkedSignature.Suite() != SuiteEth2 ||
		checkedSignature.String() != hex.EncodeToString(signature) {
		t.Errorf("found %v, %v", checkedSignature, err)
	}
	// What a caller does to the copy changes nothing.
	clear(checkedKey.Bytes())
	if own, _ := secret.PublicKey(); own != checkedKey {
		t.Error("keys with equal bytes differ")
	}

	identityKey, identitySignature := append([]byte{0xc0}, make([]byte, 47)...), append([]byte{0xc0}, make([]byte, 95)...)
	for _, encoding := range [][]byte{nil, key[1:], signature, identityKey, make([]byte, 48)} {
		if found, err := NewPublicKey(SuiteEth2, encoding); !errors.Is(err, ErrEncoding) || found != (PublicKey{}) {
			t.Errorf("%x: found %v, %v", encoding, found, err)
		}
	}
	for _, encoding := range [][]byte{nil, signature[1:], key, make([]byte, 96)} {
		if found, err := NewSignature(SuiteEth2, encoding); !errors.Is(err, ErrEncoding) || found != (Signature{}) {
			t.Errorf("%x: found %v, %v", encoding, found, err)
		}
	}
	if _, err := NewSignature(SuiteEth2, identitySignature); err != nil {
		t.Errorf("the identity is a sum of signatures: found %v", err)
	}
}

func TestSums(t *testing.T) {
	for _, suite := range []Suite{SuiteEth2, SuiteMinSigProofOfPossession, SuiteBN254KeccakProofOfPossession} {
		message := messageOf(1)
		var keys, signatures [][]byte
		for i := range 5 {
			secret := secretOf(t, suite, i)
			keys, signatures = append(keys, keyOf(t, secret)), append(signatures, signed(t, secret, message))
		}
		all := aggregated(t, suite, signatures...)
		key, err := AggregatePublicKeys(suite, keys)
		if err != nil {
			t.Fatal(err)
		}
		if verdict, err := VerifyOne(suite, key.Bytes(), message, all); err != nil || !verdict.Valid() {
			t.Errorf("%s: found %v, %v for the sums", suite, verdict, err)
		}
		rest, err := Subtract(suite, all, signatures[3:])
		if err != nil || !bytes.Equal(rest.Bytes(), aggregated(t, suite, signatures[:3]...)) {
			t.Errorf("%s: found the rest %v, %v", suite, rest, err)
		}

		// A verifier that has decoded none of the keys, and then all of them.
		verifier := newVerifier(t, Options{})
		for range 2 {
			if again, err := verifier.AggregatePublicKeys(suite, keys); err != nil || again != key {
				t.Errorf("%s: found the sum %v, %v", suite, again, err)
			}
		}
		var checked []Signature
		for _, signature := range signatures {
			one, err := NewSignature(suite, signature)
			if err != nil {
				t.Fatal(err)
			}
			checked = append(checked, one)
		}
		if sum, err := AggregateChecked(suite, checked); err != nil || !bytes.Equal(sum.Bytes(), all) {
			t.Errorf("%s: found the sum %v, %v", suite, sum, err)
		}
		if _, err := AggregateChecked(suite, append(checked, Signature{})); !errors.Is(err, ErrMisuse) {
			t.Errorf("%s: found %v for a signature of no suite", suite, err)
		}
		if _, err := AggregatePublicKeys(suite, [][]byte{keys[0], make([]byte, len(keys[0]))}); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: found %v", suite, err)
		}

		// Bytes that move from one encoding to the next make another list, which is refused.
		moved := [][]byte{signatures[0][:10], append(bytes.Clone(signatures[0][10:]), signatures[1]...)}
		if _, err := Aggregate(suite, moved); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: found %v", suite, err)
		}
		if _, err := Aggregate(suite, nil); !errors.Is(err, ErrMisuse) {
			t.Errorf("%s: found %v for no signatures", suite, err)
		}
		if _, err := AggregatePublicKeys(suite, nil); !errors.Is(err, ErrMisuse) {
			t.Errorf("%s: found %v for no keys", suite, err)
		}
		if rest, err := Subtract(suite, all, nil); err != nil || !bytes.Equal(rest.Bytes(), all) {
			t.Errorf("%s: found %v, %v without parts", suite, rest, err)
		}
		if _, err := Subtract(suite, all[1:], signatures); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: found %v for a short sum", suite, err)
		}
		if _, err := Aggregate(suite, [][]byte{signatures[0], make([]byte, suite.SignatureLength()-1)}); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: found %v", suite, err)
		}
	}
	closed := newVerifier(t, Options{})
	closed.Close()
	if _, err := closed.AggregatePublicKeys(SuiteEth2, [][]byte{keyOf(t, secretOf(t, SuiteEth2, 1))}); !errors.Is(err, ErrClosed) {
		t.Errorf("found %v", err)
	}
}

// Under a plain sum, the owner of a rogue key would sign for the others.
func TestSumsOfBDN(t *testing.T) {
	for bdn, plain := range map[Suite]Suite{SuiteMinPkBDN: SuiteMinPkProofOfPossession, SuiteMinSigBDN: SuiteMinSigProofOfPossession} {
		victim, own := keyOf(t, secretOf(t, bdn, 1)), secretOf(t, bdn, 2)
		negated := bytes.Clone(victim)
		negated[0] ^= 0x20
		rogue, err := AggregatePublicKeys(plain, [][]byte{keyOf(t, own), negated})
		if err != nil {
			t.Fatal(err)
		}
		keys := [][]byte{victim, rogue.Bytes()}
		if both, err := AggregatePublicKeys(plain, keys); err != nil || !bytes.Equal(both.Bytes(), keyOf(t, own)) {
			t.Errorf("%s: found %v, %v", plain, both, err)
		}
		both, err := AggregatePublicKeys(bdn, keys)
		if err != nil || bytes.Equal(both.Bytes(), keyOf(t, own)) {
			t.Fatalf("%s: found %v, %v", bdn, both, err)
		}
		signature := signed(t, own, nil)
		if verdict, err := VerifyOne(bdn, both.Bytes(), nil, signature); err != nil || verdict.Valid() {
			t.Errorf("%s: found %v, %v", bdn, verdict, err)
		}
		set, err := NewKeySet(bdn)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		if err := set.Push(keys...); err != nil {
			t.Fatal(err)
		}
		_, aggregate := Aggregate(bdn, [][]byte{signature})
		_, subtract := Subtract(bdn, signature, [][]byte{signature})
		_, sum := set.Sum(BitmapOf(0, 1))
		_, repeated := AggregatePublicKeys(bdn, [][]byte{victim, victim})
		for i, err := range []error{aggregate, subtract, sum, repeated} {
			if !errors.Is(err, ErrMisuse) {
				t.Errorf("%s, call %d: found %v", bdn, i, err)
			}
		}
	}
}

func TestBDNAggregates(t *testing.T) {
	for _, suite := range []Suite{SuiteMinPkBDN, SuiteMinSigBDN} {
		set, signatures := committee(t, suite, 4)
		var keys [][]byte
		for i := range signatures {
			keys = append(keys, keyOf(t, secretOf(t, suite, i)))
		}
		signature, err := BDNAggregate(suite, keys[:3], signatures[:3])
		if err != nil {
			t.Fatal(err)
		}
		sum, err := AggregatePublicKeys(suite, keys[:3])
		if err != nil {
			t.Fatal(err)
		}
		claims := []Claim{
			// Keys in another order, their sum, members, one key too few, one too many.
			Shared(suite, [][]byte{keys[2], keys[0], keys[1]}, []byte("vote"), signature.Bytes()),
			Single(suite, sum.Bytes(), []byte("vote"), signature.Bytes()),
			OfMembers(set, BitmapOf(0, 1, 2), []byte("vote"), signature.Bytes()),
			Shared(suite, keys[:2], []byte("vote"), signature.Bytes()),
			Shared(suite, keys, []byte("vote"), signature.Bytes()),
		}
		for i, verdict := range verdictsOf(t, newVerifier(t, Options{}), claims) {
			if verdict.Valid() != (i < 3) {
				t.Errorf("%s, claim %d: found %v", suite, i, verdict)
			}
		}
		_, none := BDNAggregate(suite, nil, nil)
		_, unequal := BDNAggregate(suite, keys, signatures[:3])
		_, repeated := BDNAggregate(suite, [][]byte{keys[0], keys[0]}, signatures[:2])
		for i, err := range []error{none, unequal, repeated} {
			if !errors.Is(err, ErrMisuse) {
				t.Errorf("%s, call %d: found %v", suite, i, err)
			}
		}
		if _, err := BDNAggregate(suite, [][]byte{keys[0][1:]}, signatures[:1]); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: found %v", suite, err)
		}
	}
	secret := secretOf(t, SuiteEth2, 1)
	if _, err := BDNAggregate(SuiteEth2, [][]byte{keyOf(t, secret)}, [][]byte{signed(t, secret, nil)}); !errors.Is(err, ErrMisuse) {
		t.Errorf("found %v in a suite without coefficients", err)
	}
	if _, err := BDNAggregate(99, nil, nil); !errors.Is(err, ErrSuite) {
		t.Errorf("found %v", err)
	}
}

func TestBitmaps(t *testing.T) {
	for _, c := range []struct {
		indices []int
		bitmap  Bitmap
	}{
		{nil, Bitmap{}}, {[]int{0}, Bitmap{1}}, {[]int{7}, Bitmap{128}}, {[]int{8}, Bitmap{0, 1}}, {[]int{9, 0, 3, 3}, Bitmap{9, 2}},
	} {
		if found := BitmapOf(c.indices...); !bytes.Equal(found, c.bitmap) {
			t.Errorf("%v: found %v, expected %v", c.indices, found, c.bitmap)
		}
	}
	for expected, bitmap := range []Bitmap{nil, BitmapOf(9), BitmapOf(3, 3, 0), {0, 0xe0, 0}} {
		if found := bitmap.Count(); found != expected {
			t.Errorf("%v: found %d members, expected %d", bitmap, found, expected)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative index was accepted")
		}
	}()
	BitmapOf(3, -1)
}

func TestKeySet(t *testing.T) {
	set, err := NewKeySet(SuiteEth2)
	if err != nil {
		t.Fatal(err)
	}
	var keys, signatures [][]byte
	for i := range 10 {
		secret := secretOf(t, SuiteEth2, i)
		keys, signatures = append(keys, keyOf(t, secret)), append(signatures, signed(t, secret, []byte("vote")))
	}
	if err := set.PushAssumed(keys[:9]...); err != nil {
		t.Fatal(err)
	}
	if err := set.Push(keys[9]); err != nil {
		t.Fatal(err)
	}
	if err := set.Push(); err != nil {
		t.Errorf("found %v for no keys", err)
	}
	if set.Len() != 10 || set.Suite() != SuiteEth2 {
		t.Errorf("found %d members", set.Len())
	}
	if err := set.PushAssumed(keys[0], keys[1][1:]); !errors.Is(err, ErrEncoding) || set.Len() != 10 {
		t.Errorf("found %v and %d members", err, set.Len())
	}

	sum := aggregated(t, SuiteEth2, signatures[0], signatures[8])
	if verdict, err := set.Verify(BitmapOf(0, 8), []byte("vote"), sum); err != nil || !verdict.Valid() || verdict.Reason != "" {
		t.Errorf("found %v, %v", verdict, err)
	}
	for name, members := range map[string]Bitmap{"too few": BitmapOf(0), "others": BitmapOf(1, 8), "more": BitmapOf(0, 1, 8)} {
		if verdict, err := set.Verify(members, []byte("vote"), sum); err != nil || verdict.Code != VerdictMismatch || verdict.Reason == "" {
			t.Errorf("%s: found %v, %v", name, verdict, err)
		}
	}
	for name, members := range map[string]Bitmap{"none": nil, "not there": BitmapOf(0, 10), "unproven": BitmapOf(0, 9)} {
		if verdict, err := set.Verify(members, []byte("vote"), sum); verdict != (Verdict{}) || !errors.Is(err, ErrMisuse) {
			t.Errorf("%s: found %v, %v", name, verdict, err)
		}
	}

	added, err := set.Sum(BitmapOf(0, 8))
	expected, _ := AggregatePublicKeys(SuiteEth2, [][]byte{keys[0], keys[8]})
	if err != nil || !bytes.Equal(added, expected.Bytes()) {
		t.Errorf("found the sum %x, %v", added, err)
	}

	proof, err := secretOf(t, SuiteEth2, 9).Prove()
	if err != nil {
		t.Fatal(err)
	}
	if proven, err := set.Prove(9, signatures[9]); proven || err != nil {
		t.Errorf("found %v, %v for what is not a proof", proven, err)
	}
	if proven, err := set.Prove(9, proof.Bytes()); !proven || err != nil {
		t.Errorf("found %v, %v", proven, err)
	}
	for _, index := range []int{-1, 10} {
		if proven, err := set.Prove(index, proof.Bytes()); proven || !errors.Is(err, ErrMisuse) {
			t.Errorf("member %d: found %v, %v", index, proven, err)
		}
	}
	if verdict, err := set.Verify(BitmapOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), []byte("vote"), aggregated(t, SuiteEth2, signatures...)); err != nil || !verdict.Valid() {
		t.Errorf("found %v, %v", verdict, err)
	}

	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	verdict, verify := set.Verify(BitmapOf(0), nil, nil)
	_, sums := set.Sum(nil)
	_, prove := set.Prove(0, nil)
	for i, err := range []error{verify, sums, prove, set.Push(keys[0]), set.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after Close: found %v", i, err)
		}
	}
	if verdict.Valid() || set.Len() != 0 {
		t.Errorf("found %v and %d members after Close", verdict, set.Len())
	}
}

func TestASyncAggregateMayHaveNoParticipants(t *testing.T) {
	identity := append([]byte{0xc0}, make([]byte, 95)...)
	for suite, allowed := range map[Suite]bool{SuiteEth2: false, SuiteEth2SyncAggregate: true} {
		set, err := NewKeySet(suite)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		verdict, err := set.Verify(nil, []byte("vote"), identity)
		if verdict.Valid() != allowed || errors.Is(err, ErrMisuse) == allowed {
			t.Errorf("%s: found %v, %v", suite, verdict, err)
		}
	}
}

func TestSumsOfKeySets(t *testing.T) {
	for suite, length := range map[Suite]int{SuiteEth2: 48, SuiteMinSigBasic: 96, SuiteEigenLayer: 128, SuiteBN254KeccakBasic: 128} {
		set, err := NewKeySet(suite)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		key := keyOf(t, secretOf(t, suite, 1))
		if err := set.PushAssumed(key); err != nil {
			t.Fatal(err)
		}
		sum, err := set.Sum(BitmapOf(0))
		// A key of EigenLayer ends with its point in G2.
		if err != nil || !bytes.Equal(sum, key[len(key)-length:]) {
			t.Errorf("%s: found %x, %v, expected the end of %x", suite, sum, err, key)
		}
	}
}
