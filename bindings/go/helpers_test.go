package quorate

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
)

// secretOf derives the secret key of a number.
func secretOf(t testing.TB, suite Suite, number int) *SecretKey {
	t.Helper()
	material := make([]byte, 32)
	binary.BigEndian.PutUint64(material, uint64(number))
	secret, err := DeriveSecretKey(suite, material, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { secret.Close() })
	return secret
}

func keyOf(t testing.TB, secret *SecretKey) []byte {
	t.Helper()
	key, err := secret.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key.Bytes()
}

func signed(t testing.TB, secret *SecretKey, message []byte) []byte {
	t.Helper()
	signature, err := secret.Sign(message)
	if err != nil {
		t.Fatal(err)
	}
	return signature.Bytes()
}

func aggregated(t testing.TB, suite Suite, signatures ...[]byte) []byte {
	t.Helper()
	sum, err := Aggregate(suite, signatures)
	if err != nil {
		t.Fatal(err)
	}
	return sum.Bytes()
}

// messageOf is a message of 32 bytes, as every suite can sign it.
func messageOf(number int) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 24), uint64(number))
}

// claimsOf are true claims of one key each, over as many messages as are asked for.
func claimsOf(t testing.TB, suite Suite, count, messages int) []Claim {
	t.Helper()
	claims := make([]Claim, count)
	for i := range claims {
		secret, message := secretOf(t, suite, i), messageOf(i%messages)
		claims[i] = Single(suite, keyOf(t, secret), message, signed(t, secret, message))
	}
	return claims
}

// broken is a copy of a claim with another message, so that its signature does not match.
func broken(claim Claim) Claim {
	message := bytes.Clone(claim.Messages[0])
	message[0] ^= 1
	claim.Messages = [][]byte{message}
	return claim
}

func newVerifier(t testing.TB, options Options) *Verifier {
	t.Helper()
	verifier, err := NewVerifier(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { verifier.Close() })
	return verifier
}

func verdictsOf(t testing.TB, verifier *Verifier, claims []Claim) []Verdict {
	t.Helper()
	verdicts, err := verifier.Verify(context.Background(), claims)
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != len(claims) {
		t.Fatalf("found %d verdicts for %d claims", len(verdicts), len(claims))
	}
	return verdicts
}
