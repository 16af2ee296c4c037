package quorate

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// committee is a set of members who have all shown elsewhere that they hold their secrets, and their signatures over "vote".
func committee(t testing.TB, suite Suite, size int) (*KeySet, [][]byte) {
	t.Helper()
	set, err := NewKeySet(suite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	signatures := make([][]byte, size)
	for i := range size {
		secret := secretOf(t, suite, i)
		signatures[i] = signed(t, secret, []byte("vote"))
		if err := set.PushAssumed(keyOf(t, secret)); err != nil {
			t.Fatal(err)
		}
	}
	return set, signatures
}

func TestClaimsOfMembers(t *testing.T) {
	set, signatures := committee(t, SuiteEth2, 10)
	unproven, err := NewKeySet(SuiteEth2)
	if err != nil {
		t.Fatal(err)
	}
	defer unproven.Close()
	if err := unproven.Push(keyOf(t, secretOf(t, SuiteEth2, 0)), keyOf(t, secretOf(t, SuiteEth2, 1))); err != nil {
		t.Fatal(err)
	}
	otherGroup, err := NewKeySet(SuiteDrandQuicknet)
	if err != nil {
		t.Fatal(err)
	}
	defer otherGroup.Close()
	three := aggregated(t, SuiteEth2, signatures[0], signatures[2], signatures[9])
	identity := append([]byte{0xc0}, make([]byte, 95)...)
	of := func(members Bitmap, signature []byte) Claim {
		return OfMembers(set, members, []byte("vote"), signature)
	}
	by := func(signature []byte, indices ...uint32) Claim {
		claim := of(nil, signature)
		claim.Indices = indices
		return claim
	}
	in := func(claim Claim, suite Suite, set *KeySet) Claim {
		claim.Suite, claim.KeySet = suite, set
		return claim
	}
	each := by(aggregated(t, SuiteEth2, signed(t, secretOf(t, SuiteEth2, 4), []byte("four")), signatures[3]), 4, 3)
	each.Kind, each.Messages = KindEach, [][]byte{[]byte("four"), []byte("vote")}
	unequal := each
	unequal.Messages = unequal.Messages[:1]
	cases := []struct {
		name   string
		claim  Claim
		code   VerdictCode
		reason string
	}{
		{"bitmap", of(BitmapOf(0, 2, 9), three), VerdictValid, ""},
		{"longer bitmap", of(append(BitmapOf(0, 2, 9), 0, 0, 0), three), VerdictValid, ""},
		{"shorter bitmap", of(BitmapOf(0), signatures[0]), VerdictValid, ""},
		{"indices", by(three, 9, 0, 2), VerdictValid, ""},
		{"others", of(BitmapOf(0, 1, 9), three), VerdictMismatch, "does not match"},
		{"repeated index", by(aggregated(t, SuiteEth2, signatures[0], signatures[0]), 0, 0), VerdictValid, ""},
		{"counted once", by(signatures[0], 0, 0), VerdictMismatch, "does not match"},
		{"nobody", of(nil, three), VerdictRule, "the claim has no keys and messages"},
		{"nobody in a longer bitmap", of(make(Bitmap, 9), three), VerdictRule, "the claim has no keys and messages"},
		{"nobody of a sync aggregate", in(of(nil, identity), SuiteEth2SyncAggregate, set), VerdictValid, ""},
		{"member 10 in a bitmap", of(BitmapOf(0, 10), three), VerdictKeySet, "the claim names member 10 of a key set of 10"},
		{"the last index", by(three, 0, 1<<32-1), VerdictKeySet, "the claim names member 4294967295 of a key set of 10"},
		{"unproven", in(of(BitmapOf(0, 1), three), SuiteEth2, unproven), VerdictKeySet, "member 0 of the key set has not proven"},
		{"one needs no proof", in(of(BitmapOf(1), signatures[1]), SuiteEth2, unproven), VerdictValid, ""},
		{"other group", in(of(BitmapOf(0), three), SuiteEth2, otherGroup), VerdictKeySet, "another variant than the claim's suite"},
		{"each its own message", each, VerdictValid, ""},
		{"a message too few", unequal, VerdictRule, "2 public keys, but 1 messages"},
		{"encoded", Single(SuiteEth2, keyOf(t, secretOf(t, SuiteEth2, 7)), []byte("vote"), signatures[7]), VerdictValid, ""},
	}
	claims := make([]Claim, len(cases))
	for i, c := range cases {
		claims[i] = c.claim
	}
	verifier := newVerifier(t, Options{})
	verdicts := verdictsOf(t, verifier, claims)
	batcher, err := NewBatcher(BatcherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer batcher.Close()
	for i, c := range cases {
		if verdicts[i].Code != c.code || !strings.Contains(verdicts[i].Reason, c.reason) || (c.reason == "") != (verdicts[i].Reason == "") {
			t.Errorf("%s: found %v", c.name, verdicts[i])
		}
		if c.code == VerdictKeySet && verdicts[i].False() {
			t.Errorf("%s: a set that does not fit says nothing about who sent the claim", c.name)
		}
		if answer := <-batcher.Submit(c.claim, ClassBlock, time.Time{}); answer.Err != nil || answer.Verdict != verdicts[i] {
			t.Errorf("%s: found %v by a batcher", c.name, answer)
		}
		if alone := verdictsOf(t, verifier, claims[i:i+1])[0]; alone != verdicts[i] {
			t.Errorf("%s: found %v alone", c.name, alone)
		}
	}
}

// A set that grows is another one for the claims after it.
func TestClaimsOfASetThatGrows(t *testing.T) {
	set, signatures := committee(t, SuiteEth2, 2)
	last := secretOf(t, SuiteEth2, 2)
	claim := OfMembers(set, BitmapOf(0, 2), []byte("vote"), aggregated(t, SuiteEth2, signatures[0], signed(t, last, []byte("vote"))))
	verifier := newVerifier(t, Options{})
	if verdict := verdictsOf(t, verifier, []Claim{claim})[0]; verdict.Code != VerdictKeySet {
		t.Errorf("found %v", verdict)
	}
	if err := set.PushAssumed(keyOf(t, last)); err != nil {
		t.Fatal(err)
	}
	if verdict := verdictsOf(t, verifier, []Claim{claim})[0]; !verdict.Valid() {
		t.Errorf("found %v", verdict)
	}
}

func TestRepeatedMembersInABDNSuite(t *testing.T) {
	set, signatures := committee(t, SuiteMinSigBDN, 2)
	claim := OfMembers(set, nil, []byte("vote"), signatures[0])
	claim.Indices = []uint32{0, 0}
	verdict := verdictsOf(t, newVerifier(t, Options{}), []Claim{claim})[0]
	if verdict.Code != VerdictRule || !strings.Contains(verdict.Reason, "a key occurs twice") {
		t.Errorf("found %v", verdict)
	}
}

func TestWrongClaimsOfMembers(t *testing.T) {
	set, signatures := committee(t, SuiteEth2, 2)
	good := OfMembers(set, BitmapOf(0), []byte("vote"), signatures[0])
	change := func(change func(*Claim)) Claim {
		claim := good
		change(&claim)
		return claim
	}
	for text, claim := range map[string]Claim{
		"claim 1: members are named, but no key set": change(func(c *Claim) { c.KeySet = nil }),
		"claim 1: PublicKeys and KeySet are both":    change(func(c *Claim) { c.PublicKeys = [][]byte{{1}} }),
		"claim 1: Members and Indices are both":      change(func(c *Claim) { c.Indices = []uint32{0} }),
		// This number would stand for the members of a set in the packed form.
		"claim 1: there is no kind 256 of messages": change(func(c *Claim) { c.Kind = 256 }),
	} {
		verdicts, err := Verify(context.Background(), []Claim{good, claim})
		if verdicts != nil || !errors.Is(err, ErrClaims) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: found %v, %v", text, verdicts, err)
		}
	}
}

func TestAClaimOfNoSetPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil set was accepted")
		}
	}()
	OfMembers(nil, BitmapOf(0), []byte("vote"), nil)
}

func TestClaimsOfAClosedSet(t *testing.T) {
	set, signatures := committee(t, SuiteEth2, 2)
	claim := OfMembers(set, BitmapOf(0), []byte("vote"), signatures[0])
	batcher, err := NewBatcher(BatcherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer batcher.Close()
	// A claim that was handed in keeps its set.
	answers := batcher.Submit(claim, ClassGossip, time.Time{})
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if answer := <-answers; !answer.Verdict.Valid() {
		t.Errorf("found %v", answer)
	}
	for _, claim := range []Claim{claim, {Suite: SuiteEth2, KeySet: new(KeySet), Messages: claim.Messages}} {
		verdicts, err := Verify(context.Background(), []Claim{claim})
		if verdicts != nil || !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "claim 0: there is no key set with the number") {
			t.Errorf("found %v, %v", verdicts, err)
		}
		if answer := <-batcher.Submit(claim, ClassGossip, time.Time{}); !errors.Is(answer.Err, ErrClosed) {
			t.Errorf("found %v", answer)
		}
	}
}

// The collector frees no set that a claim names, and frees it when nothing does.
func TestClaimsKeepTheirSets(t *testing.T) {
	var claims []Claim
	for range 8 {
		set, err := NewKeySet(SuiteEth2)
		if err != nil {
			t.Fatal(err)
		}
		secret := secretOf(t, SuiteEth2, 0)
		if err := set.PushAssumed(keyOf(t, secret)); err != nil {
			t.Fatal(err)
		}
		claims = append(claims, OfMembers(set, BitmapOf(0), []byte("vote"), signed(t, secret, []byte("vote"))))
	}
	packed, err := pack(claims)
	claims = nil
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	verdicts := make([]Verdict, 8)
	if err := newVerifier(t, Options{}).decide(packed, false, verdicts); err != nil || !AllValid(verdicts) {
		t.Errorf("found %v, %v", verdicts, err)
	}
}
