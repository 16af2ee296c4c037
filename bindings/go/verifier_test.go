package quorate

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// cases are claims of a suite with what they get.
func cases(t *testing.T, suite Suite) map[string]struct {
	claim Claim
	code  VerdictCode
} {
	a, b := secretOf(t, suite, 1), secretOf(t, suite, 2)
	keyA, keyB := keyOf(t, a), keyOf(t, b)
	one, two := messageOf(1), messageOf(2)
	sigA, sigB := signed(t, a, one), signed(t, b, two)
	sum := aggregated(t, suite, sigA, sigB)
	bad := func(bytes []byte) []byte { return bytes[:len(bytes)-1] }
	type entry = struct {
		claim Claim
		code  VerdictCode
	}
	return map[string]entry{
		"true":                    {Single(suite, keyA, one, sigA), VerdictValid},
		"each":                    {Each(suite, [][]byte{keyA, keyB}, [][]byte{one, two}, sum), VerdictValid},
		"another message":         {Single(suite, keyA, two, sigA), VerdictMismatch},
		"another key":             {Single(suite, keyB, one, sigA), VerdictMismatch},
		"another signature":       {Single(suite, keyA, one, sigB), VerdictMismatch},
		"messages swapped":        {Each(suite, [][]byte{keyA, keyB}, [][]byte{two, one}, sum), VerdictMismatch},
		"a part as the aggregate": {Each(suite, [][]byte{keyA, keyB}, [][]byte{one, two}, sigA), VerdictMismatch},
		"short key":               {Single(suite, bad(keyA), one, sigA), VerdictEncoding},
		"short signature":         {Single(suite, keyA, one, bad(sigA)), VerdictEncoding},
		"empty key":               {Single(suite, nil, one, sigA), VerdictEncoding},
		"empty signature":         {Single(suite, keyA, one, nil), VerdictEncoding},
		"key of another point":    {Single(suite, bytes.Repeat([]byte{0xff}, len(keyA)), one, sigA), VerdictEncoding},
		"no keys":                 {Shared(suite, nil, one, sigA), VerdictRule},
		"more keys than messages": {Each(suite, [][]byte{keyA, keyB}, [][]byte{one}, sum), VerdictRule},
	}
}

func TestVerdictsOfEverySuite(t *testing.T) {
	for _, suite := range []Suite{SuiteEth2, SuiteChia, SuiteMinPkBasic, SuiteDrandQuicknet, SuiteMinSigAugmented, SuiteEigenLayer, SuiteBN254KeccakBasic} {
		t.Run(suite.String(), func(t *testing.T) {
			verifier := newVerifier(t, Options{})
			var claims []Claim
			var names []string
			var codes []VerdictCode
			for name, c := range cases(t, suite) {
				claims, names, codes = append(claims, c.claim), append(names, name), append(codes, c.code)
			}
			for i, verdict := range verdictsOf(t, verifier, claims) {
				if verdict.Code != codes[i] || verdict.Valid() != (codes[i] == VerdictValid) || verdict.False() == verdict.Valid() {
					t.Errorf("%s: found %v, expected %v", names[i], verdict, codes[i])
				}
				if (verdict.Reason == "") != verdict.Valid() {
					t.Errorf("%s: found the reason %q", names[i], verdict.Reason)
				}
				// Alone it gets the same as among the others.
				if alone := verdictsOf(t, verifier, claims[i:i+1])[0]; alone != verdict {
					t.Errorf("%s: found %v, and among others %v", names[i], alone, verdict)
				}
			}
		})
	}
}

func TestOneFalseClaimIsFoundAtEveryPlace(t *testing.T) {
	verifier := newVerifier(t, Options{Threads: 2})
	claims := claimsOf(t, SuiteEth2, 9, 3)
	for place := range claims {
		mixed := append([]Claim(nil), claims...)
		mixed[place] = broken(mixed[place])
		for i, verdict := range verdictsOf(t, verifier, mixed) {
			if verdict.Valid() == (i == place) {
				t.Errorf("false claim at %d: found %v at %d", place, verdict, i)
			}
		}
	}
}

func TestAFalseClaimAmongClaimsOfOtherSuites(t *testing.T) {
	var claims []Claim
	for _, suite := range []Suite{SuiteEth2, SuiteDrandQuicknet, SuiteEigenLayer} {
		two := claimsOf(t, suite, 2, 2)
		claims = append(claims, two[0], broken(two[1]))
	}
	for i, verdict := range verdictsOf(t, newVerifier(t, Options{}), claims) {
		if verdict.Valid() != (i%2 == 0) {
			t.Errorf("claim %d: found %v", i, verdict)
		}
	}
}

func TestVerifyOne(t *testing.T) {
	verifier := newVerifier(t, Options{})
	for name, c := range cases(t, SuiteEth2) {
		if len(c.claim.PublicKeys) != 1 {
			continue
		}
		verdict, err := verifier.VerifyOne(SuiteEth2, c.claim.PublicKeys[0], c.claim.Messages[0], c.claim.Signature)
		if err != nil || verdict.Code != c.code {
			t.Errorf("%s: found %v, %v, expected %v", name, verdict, err, c.code)
		}
	}
	verdict, err := VerifyOne(0, nil, nil, nil)
	if !errors.Is(err, ErrSuite) || verdict != (Verdict{}) {
		t.Errorf("found %v, %v", verdict, err)
	}
}

func TestPossession(t *testing.T) {
	secret, other := secretOf(t, SuiteEth2, 1), secretOf(t, SuiteEth2, 2)
	proof, err := secret.Prove()
	if err != nil {
		t.Fatal(err)
	}
	basic := secretOf(t, SuiteMinPkBasic, 1)
	claims := []Claim{
		Possession(SuiteEth2, keyOf(t, secret), proof.Bytes()),
		Possession(SuiteEth2, keyOf(t, other), proof.Bytes()),
		// A signature over the key is not a proof: the tags differ.
		Possession(SuiteEth2, keyOf(t, secret), signed(t, secret, keyOf(t, secret))),
		Possession(SuiteMinPkBasic, keyOf(t, basic), proof.Bytes()),
	}
	expected := []VerdictCode{VerdictValid, VerdictMismatch, VerdictMismatch, VerdictRule}
	for i, verdict := range verdictsOf(t, newVerifier(t, Options{}), claims) {
		if verdict.Code != expected[i] {
			t.Errorf("claim %d: found %v, expected %v", i, verdict, expected[i])
		}
	}
	if _, err := basic.Prove(); !errors.Is(err, ErrMisuse) {
		t.Errorf("found %v", err)
	}
}

func TestNothingToVerifyIsNotSuccess(t *testing.T) {
	verdicts := verdictsOf(t, newVerifier(t, Options{}), nil)
	if len(verdicts) != 0 || AllValid(verdicts) || AllValid(nil) {
		t.Error("nothing was verified, and that is valid")
	}
	if (Verdict{}).Valid() || (Verdict{}).False() || (Verdict{}).String() != "undecided" {
		t.Error("the zero verdict is not undecided")
	}
	for code := 0; code < 256; code++ {
		if (Verdict{Code: VerdictCode(code)}).Valid() != (code == 1) {
			t.Errorf("code %d", code)
		}
	}
}

func TestClaimsThatCannotBeHandedOver(t *testing.T) {
	verifier := newVerifier(t, Options{})
	good := claimsOf(t, SuiteEth2, 1, 1)[0]
	change := func(change func(*Claim)) Claim {
		claim := good
		change(&claim)
		return claim
	}
	for name, c := range map[string]struct {
		claim Claim
		err   error
	}{
		"zero":               {Claim{}, ErrSuite},
		"unknown suite":      {change(func(c *Claim) { c.Suite = 99 }), ErrSuite},
		"unknown kind":       {change(func(c *Claim) { c.Kind = 3 }), ErrClaims},
		"two messages":       {change(func(c *Claim) { c.Messages = append(c.Messages[:1:1], nil) }), ErrClaims},
		"no message":         {change(func(c *Claim) { c.Messages = nil }), ErrClaims},
		"message of a proof": {change(func(c *Claim) { c.Kind = KindPossession }), ErrClaims},
	} {
		verdicts, err := verifier.Verify(context.Background(), []Claim{good, c.claim})
		if verdicts != nil || !errors.Is(err, c.err) || !strings.Contains(err.Error(), "claim 1") {
			t.Errorf("%s: found %v, %v", name, verdicts, err)
		}
		if _, err := verifier.Plan([]Claim{c.claim}); !errors.Is(err, c.err) {
			t.Errorf("%s: found %v for the plan", name, err)
		}
	}
	// A peer's identity is often no text.
	named := change(func(c *Claim) { c.Source = "\xff\x00" })
	if verdicts, err := verifier.Verify(context.Background(), []Claim{named}); err != nil || !AllValid(verdicts) {
		t.Errorf("found %v, %v", verdicts, err)
	}
}

func TestKnownStatements(t *testing.T) {
	verifier := newVerifier(t, Options{MostKnown: 1000})
	claims := claimsOf(t, SuiteEth2, 4, 4)
	claims[2] = broken(claims[2])
	verdictsOf(t, verifier, claims)
	if known, err := verifier.Known(); known != 0 || err != nil {
		t.Errorf("found %d known statements, %v: nobody asked to remember", known, err)
	}
	if _, err := verifier.VerifyAndRemember(context.Background(), claims); err != nil {
		t.Fatal(err)
	}
	if known, err := verifier.Known(); known != 3 || err != nil {
		t.Errorf("found %d known statements, %v, expected those of the 3 true claims", known, err)
	}
	for i, verdict := range verdictsOf(t, verifier, claims) {
		if verdict.Valid() != (i != 2) {
			t.Errorf("claim %d: found %v", i, verdict)
		}
	}
	if err := verifier.Forget(); err != nil {
		t.Fatal(err)
	}
	if known, _ := verifier.Known(); known != 0 {
		t.Errorf("found %d known statements after Forget", known)
	}
	one := newVerifier(t, Options{MostKnown: 1})
	if _, err := one.VerifyAndRemember(context.Background(), claims); err != nil {
		t.Fatal(err)
	}
	if known, err := one.Known(); known != 1 || err != nil {
		t.Errorf("found %d known statements, %v, expected 1", known, err)
	}
}

func TestPlan(t *testing.T) {
	verifier := newVerifier(t, Options{})
	plan, err := verifier.Plan(claimsOf(t, SuiteEth2, 3, 2))
	if err != nil || !strings.Contains(plan, "3") {
		t.Errorf("found %q, %v", plan, err)
	}
}

func TestLongTextsAreWhole(t *testing.T) {
	for _, length := range []int{0, 1, 9, 10, 11, 500} {
		text := strings.Repeat("x", length)
		found, err := longText(10, func(place []byte) (int, error) {
			// As the library writes: what fits, and a zero.
			place[copy(place[:len(place)-1], text)] = 0
			return len(text), nil
		})
		if err != nil || found != text {
			t.Errorf("found %d bytes, %v, expected %d", len(found), err, length)
		}
	}
}

func TestOptionsThatDoNotExist(t *testing.T) {
	for _, options := range []Options{{Soundness: 80}, {Soundness: -64}, {Backend: "none"}, {Backend: "\xff"}, {Threads: -2}, {Threads: 1025}} {
		if _, err := NewVerifier(options); !errors.Is(err, ErrMisuse) {
			t.Errorf("%+v: found %v", options, err)
		}
	}
	// The text names what Go has, and nothing that it refuses.
	_, err := NewVerifier(Options{Threads: 1025})
	if expected := "threads: found 1025, expected 0 for the default, 1 to 1024, or AllThreads"; err == nil || !strings.Contains(err.Error(), expected) {
		t.Errorf("found %v, expected %s", err, expected)
	}
	newVerifier(t, Options{Threads: 1024})
	claims := append(claimsOf(t, SuiteEth2, 3, 2), broken(claimsOf(t, SuiteEth2, 1, 1)[0]))
	for _, options := range []Options{{Soundness: 128}, {Backend: "portable"}, {Threads: AllThreads}} {
		for i, verdict := range verdictsOf(t, newVerifier(t, options), claims) {
			if verdict.Valid() != (i < 3) {
				t.Errorf("%+v: found %v for claim %d", options, verdict, i)
			}
		}
	}
}

func TestMoreProcessorsThanTheLibraryTakes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1025))
	verifier, err := newShared()
	if err != nil {
		t.Fatal(err)
	}
	defer verifier.Close()
	for i, verdict := range verdictsOf(t, verifier, claimsOf(t, SuiteEth2, 40, 2)) {
		if !verdict.Valid() {
			t.Errorf("claim %d: found %v", i, verdict)
		}
	}
}

func TestContexts(t *testing.T) {
	verifier := newVerifier(t, Options{})
	claims := claimsOf(t, SuiteEth2, 64, 64)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if verdicts, err := verifier.Verify(ended, claims); verdicts != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, %v", verdicts, err)
	}

	long, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	verdicts, err := verifier.Verify(long, claims)
	if err != nil || !AllValid(verdicts) {
		t.Errorf("found %v, %v", verdicts, err)
	}

	// A call whose context ends returns while the work goes on. On a busy machine the work may end before the timer does.
	slow, err := NewVerifier(Options{Backend: "portable"})
	if err != nil {
		t.Fatal(err)
	}
	early := 0
	for range 10 {
		short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		verdicts, err := slow.Verify(short, claims)
		cancel()
		switch {
		case verdicts == nil && errors.Is(err, context.DeadlineExceeded):
			early++
		case err != nil || !AllValid(verdicts):
			t.Errorf("found %v, %v", verdicts, err)
		}
	}
	if early == 0 {
		t.Error("no call returned early")
	}
	// The claims may be changed now, and Close waits for the work.
	for i := range claims {
		clear(claims[i].Messages[0])
	}
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsForCallsAndRefusesLaterOnes(t *testing.T) {
	verifier, err := NewVerifier(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.handle.use(); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- verifier.Close() }()
	for err == nil {
		_, err = verifier.VerifyOne(SuiteEth2, nil, nil, nil)
	}
	if !errors.Is(err, ErrClosed) {
		t.Errorf("found %v", err)
	}
	select {
	case err := <-closed:
		t.Errorf("Close returned %v while a call ran", err)
	default:
	}
	verifier.handle.done()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	verifier, err := NewVerifier(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Close(); err != nil {
		t.Fatal(err)
	}
	_, one := verifier.VerifyOne(SuiteEth2, nil, nil, nil)
	_, plan := verifier.Plan(nil)
	_, known := verifier.Known()
	_, all := verifier.Verify(context.Background(), nil)
	_, remembered := verifier.VerifyAndRemember(context.Background(), nil)
	for i, err := range []error{verifier.Close(), one, plan, known, all, remembered, verifier.Forget()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d: found %v", i, err)
		}
	}
}

func TestTheZeroVerifierIsClosed(t *testing.T) {
	var verifier Verifier
	if _, err := verifier.VerifyOne(SuiteEth2, nil, nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("found %v", err)
	}
	if err := verifier.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("found %v", err)
	}
}
