package bls

import "testing"

// An operator's signature is refused under another key, under keys of two secrets, and over another message.
func TestQuorateRefuses(t *testing.T) {
	a, _ := GenRandomBlsKeys()
	b, _ := GenRandomBlsKeys()
	m := [32]byte{1}
	s := a.SignMessage(m)
	for _, c := range []struct {
		g1 *G1Point
		g2 *G2Point
		m  [32]byte
		w  bool
	}{{a.PubKey, a.GetPubKeyG2(), m, true}, {b.PubKey, a.GetPubKeyG2(), m, false}, {b.PubKey, b.GetPubKeyG2(), m, false}, {a.PubKey, a.GetPubKeyG2(), [32]byte{2}, false}} {
		v, err := s.Verify(c.g1, c.g2, c.m)
		if v != c.w || err != nil {
			t.Error(v, err)
		}
	}
	if same, err := a.PubKey.VerifyEquivalence(a.GetPubKeyG2()); !same || err != nil {
		t.Error(same, err)
	}
	if same, err := a.PubKey.VerifyEquivalence(b.GetPubKeyG2()); same || err != nil {
		t.Error(same, err)
	}
}
