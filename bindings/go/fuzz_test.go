package quorate

import (
	"bytes"
	"context"
	"testing"
)

// FuzzVerify hands the library bytes that nobody packed. Nothing of it is signed, so nothing may be valid.
func FuzzVerify(f *testing.F) {
	verifier := newVerifier(f, Options{})
	secret := secretOf(f, SuiteEth2, 1)
	key, other := keyOf(f, secret), keyOf(f, secretOf(f, SuiteEth2, 2))
	signature := signed(f, secret, []byte("a message that no claim has"))
	for _, claims := range [][]Claim{
		nil,
		{Single(SuiteEth2, other, nil, signature)},
		{Single(SuiteChia, other, []byte("m"), signature), Possession(SuiteEth2, other, signature)},
		{Each(SuiteDrandQuicknet, [][]byte{key, nil}, [][]byte{nil, key}, nil)},
	} {
		packed, err := pack(claims)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(packed.packed), uint8(len(claims)))
	}
	f.Fuzz(func(t *testing.T, packed []byte, count uint8) {
		verdicts := make([]Verdict, count)
		err := verifier.decide(&scratch{packed: packed, count: int(count)}, false, verdicts)
		for i, verdict := range verdicts {
			if verdict.Valid() {
				t.Errorf("claim %d is valid", i)
			}
			if err != nil && verdict != (Verdict{}) {
				t.Errorf("claim %d has the verdict %v beside the error %v", i, verdict, err)
			}
		}
	})
}

// FuzzClaims changes a part of a true claim. It stays true only if it stays what it was. The verdict does not depend on a claim beside it.
func FuzzClaims(f *testing.F) {
	verifier := newVerifier(f, Options{})
	batcher := newBatcher(f, BatcherOptions{})
	var suites []Suite
	var claims []Claim
	for _, suite := range []Suite{SuiteEth2, SuiteChia, SuiteDrandQuicknet, SuiteEigenLayer, SuiteBN254SHA256Basic} {
		suites, claims = append(suites, suite), append(claims, claimsOf(f, suite, 1, 1)...)
	}
	for i := range suites {
		f.Add(uint8(i), uint8(0), uint16(0), uint8(0), []byte(nil))
		f.Add(uint8(i), uint8(1), uint16(7), uint8(1), []byte("x"))
		f.Add(uint8(i), uint8(2), uint16(0), uint8(0x80), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, which, part uint8, place uint16, flip uint8, more []byte) {
		claim := claims[int(which)%len(claims)]
		parts := [3]*[]byte{&claim.Signature, new([]byte), new([]byte)}
		*parts[1], *parts[2] = claim.Messages[0], claim.PublicKeys[0]
		changed := parts[part%3]
		own := *changed
		*changed = append(bytes.Clone(own), more...)
		(*changed)[int(place)%len(*changed)] ^= flip
		claim.Messages, claim.PublicKeys = [][]byte{*parts[1]}, [][]byte{*parts[2]}

		verdicts, err := verifier.Verify(context.Background(), []Claim{claim, claims[0]})
		if err != nil {
			t.Fatal(err)
		}
		if verdicts[0].Valid() != bytes.Equal(own, *changed) || !verdicts[1].Valid() {
			t.Errorf("found %v", verdicts)
		}
		answers, err := batcher.Verify(context.Background(), []Claim{claim}, ClassBlock)
		if err != nil || answers[0].Code != verdicts[0].Code {
			t.Errorf("found %v, %v by the batcher, and %v", answers, err, verdicts[0])
		}
	})
}
