package quorate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func newBatcher(t testing.TB, options BatcherOptions) *Batcher {
	t.Helper()
	batcher, err := NewBatcher(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { batcher.Close() })
	return batcher
}

// one is the answer of a channel, and there is no second.
func one(t *testing.T, answers <-chan Answer) Answer {
	t.Helper()
	select {
	case answer := <-answers:
		select {
		case second := <-answers:
			t.Errorf("there is a second answer: %v", second)
		default:
		}
		return answer
	case <-time.After(time.Minute):
		t.Fatal("there is no answer")
		return Answer{}
	}
}

func TestAThousandClaimsOfManyGoroutines(t *testing.T) {
	batcher := newBatcher(t, BatcherOptions{Queue: time.Minute})
	valid := claimsOf(t, SuiteEth2, 100, 100)
	const goroutines, each = 20, 50
	var group sync.WaitGroup
	for g := range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			var answers [each]<-chan Answer
			for i := range answers {
				claim := valid[(g*each+i)%len(valid)]
				// Each goroutine is a source, and two of them lie once.
				claim.Source = fmt.Sprint("peer ", g)
				if i == 17 && g < 2 {
					claim = broken(claim)
				}
				answers[i] = batcher.Submit(claim, ClassGossip, time.Time{})
			}
			for i := range answers {
				answer := one(t, answers[i])
				if answer.Err != nil || answer.Verdict.Valid() == (i == 17 && g < 2) {
					t.Errorf("goroutine %d, claim %d: found %+v", g, i, answer)
				}
				if (answer.Verdict.Reason == "") != answer.Verdict.Valid() {
					t.Errorf("goroutine %d, claim %d: found the reason %q", g, i, answer.Verdict.Reason)
				}
			}
		}()
	}
	group.Wait()
}

func TestBatcherVerify(t *testing.T) {
	batcher := newBatcher(t, BatcherOptions{Threads: 1, Soundness: 128, Linger: time.Millisecond, Queue: time.Minute, QueueBytes: 1 << 26})
	claims := claimsOf(t, SuiteDrandQuicknet, 20, 20)
	claims[5] = broken(claims[5])
	claims[6].Signature = claims[6].Signature[1:]
	claims[7].PublicKeys = nil
	many := Each(SuiteEth2, nil, nil, nil)
	var signatures [][]byte
	for i := range 9 {
		secret := secretOf(t, SuiteEth2, i)
		many.PublicKeys, many.Messages = append(many.PublicKeys, keyOf(t, secret)), append(many.Messages, messageOf(i))
		signatures = append(signatures, signed(t, secret, messageOf(i)))
	}
	many.Signature = aggregated(t, SuiteEth2, signatures...)
	claims[8] = many
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, ctx := range []context.Context{ctx, context.Background()} {
		verdicts, err := batcher.Verify(ctx, claims, ClassBlock)
		if err != nil || len(verdicts) != len(claims) {
			t.Fatalf("found %d verdicts, %v", len(verdicts), err)
		}
		expected := map[int]VerdictCode{5: VerdictMismatch, 6: VerdictEncoding, 7: VerdictRule}
		for i, verdict := range verdicts {
			if code, is := expected[i]; verdict.Valid() == is || is && verdict.Code != code {
				t.Errorf("claim %d: found %v", i, verdict)
			}
		}
	}
	if verdicts, err := batcher.Verify(context.Background(), nil, ClassBlock); err != nil || len(verdicts) != 0 || AllValid(verdicts) {
		t.Errorf("found %v, %v", verdicts, err)
	}
}

func TestWhatABatcherDoesNotTake(t *testing.T) {
	batcher := newBatcher(t, BatcherOptions{})
	good := claimsOf(t, SuiteEth2, 1, 1)[0]
	two := good
	two.Messages = make([][]byte, 6)
	for name, c := range map[string]struct {
		claim Claim
		class Class
		err   error
	}{
		"zero": {Claim{}, ClassBlock, ErrSuite}, "class": {good, 3, ErrMisuse}, "messages": {two, ClassBlock, ErrClaims},
	} {
		if answer := one(t, batcher.Submit(c.claim, c.class, time.Time{})); !errors.Is(answer.Err, c.err) || answer.Verdict != (Verdict{}) {
			t.Errorf("%s: found %+v", name, answer)
		}
		if verdicts, err := batcher.Verify(context.Background(), []Claim{good, c.claim}, c.class); verdicts != nil || !errors.Is(err, c.err) {
			t.Errorf("%s: found %v, %v", name, verdicts, err)
		}
	}
}

func TestDeadlines(t *testing.T) {
	batcher := newBatcher(t, BatcherOptions{})
	claim := claimsOf(t, SuiteEth2, 1, 1)[0]
	if answer := one(t, batcher.Submit(claim, ClassGossip, time.Now().Add(-time.Second))); answer.Verdict.Code != VerdictDeadlinePassed {
		t.Errorf("found %+v", answer)
	}
	if answer := one(t, batcher.Submit(claim, ClassGossip, time.Now().Add(time.Hour))); !answer.Verdict.Valid() {
		t.Errorf("found %+v", answer)
	}
	// A claim that waits behind much work is refused. A busy machine may stop this goroutine until the work is done.
	many := claimsOf(t, SuiteEth2, 300, 300)
	isRefused := false
	for round := 0; round < 20 && !isRefused; round++ {
		busy := newBatcher(t, BatcherOptions{Threads: 1, Backend: "portable", Target: time.Hour, Queue: time.Hour})
		for _, claim := range many {
			busy.Submit(claim, ClassBlock, time.Time{})
		}
		time.Sleep(5 * time.Millisecond)
		answer := one(t, busy.Submit(claim, ClassGossip, time.Now().Add(time.Millisecond)))
		if answer.Verdict.False() {
			t.Errorf("found %+v", answer)
		}
		isRefused = !answer.Verdict.Valid()
	}
	if !isRefused {
		t.Error("a claim that waits behind much work was verified each time")
	}
}

// suspected are claims of a source that has lied to the batcher. They wait for those of other suspects, a tenth of a second, although a
// thread is idle.
func suspected(t *testing.T, batcher *Batcher, count int) []Claim {
	t.Helper()
	claims := claimsOf(t, SuiteEth2, count, count)
	for i := range claims {
		claims[i].Source = "a suspect"
	}
	if answer := one(t, batcher.Submit(broken(claims[0]), ClassGossip, time.Time{})); !answer.Verdict.False() {
		t.Fatalf("found %+v for a lie", answer)
	}
	return claims
}

func TestACancelledCallOfTheBatcher(t *testing.T) {
	early := 0
	// On a busy machine the answers may come before the timer does.
	for round := 0; round < 20 && early == 0; round++ {
		batcher := newBatcher(t, BatcherOptions{Threads: 1, Queue: time.Hour})
		claims := suspected(t, batcher, 10)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Millisecond, cancel)
		verdicts, err := batcher.Verify(ctx, claims, ClassGossip)
		switch {
		case verdicts == nil && errors.Is(err, context.Canceled):
			early++
		case err != nil || !AllValid(verdicts):
			t.Errorf("found %v, %v", verdicts, err)
		}
		cancel()
		if verdicts, err := batcher.Verify(ctx, claims, ClassGossip); verdicts != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("found %v, %v for a context that has ended", verdicts, err)
		}
	}
	if early == 0 {
		t.Error("no call returned early")
	}
}

func TestStopAndClose(t *testing.T) {
	batcher, err := NewBatcher(BatcherOptions{Threads: 1, Queue: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	claims := claimsOf(t, SuiteEth2, 50, 50)
	var answers []<-chan Answer
	for _, claim := range claims {
		answers = append(answers, batcher.Submit(claim, ClassGossip, time.Time{}))
	}
	if err := batcher.Stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		if answer := one(t, answer); !answer.Verdict.Valid() {
			t.Errorf("found %+v for a claim from before the stop", answer)
		}
	}
	if answer := one(t, batcher.Submit(claims[0], ClassBlock, time.Time{})); answer.Err != nil || answer.Verdict.Code != VerdictStopped {
		t.Errorf("found %+v after the stop", answer)
	}
	if err := batcher.Close(); err != nil {
		t.Fatal(err)
	}
	_, verify := batcher.Verify(context.Background(), claims, ClassBlock)
	submit := one(t, batcher.Submit(claims[0], ClassBlock, time.Time{}))
	for i, err := range []error{verify, submit.Err, batcher.Stop(0), batcher.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after Close: found %v", i, err)
		}
	}
}

func TestCloseAnswersWhatWaits(t *testing.T) {
	stopped := 0
	// A busy machine may verify claims of suspects before this goroutine goes on.
	for round := 0; round < 20 && stopped < 50; round++ {
		stopped = 0
		batcher, err := NewBatcher(BatcherOptions{Threads: 1, Target: time.Hour, Queue: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		var answers []<-chan Answer
		for _, claim := range suspected(t, batcher, 50) {
			answers = append(answers, batcher.Submit(claim, ClassGossip, time.Time{}))
		}
		if err := batcher.Close(); err != nil {
			t.Fatal(err)
		}
		for i, answers := range answers {
			select {
			case answer := <-answers:
				switch {
				case answer.Err == nil && answer.Verdict.Code == VerdictStopped && answer.Verdict.Reason != "":
					stopped++
				case answer.Err != nil || !answer.Verdict.Valid():
					t.Errorf("claim %d: found %+v", i, answer)
				}
			default:
				t.Errorf("claim %d has no answer after Close", i)
			}
		}
	}
	if stopped < 50 {
		t.Errorf("Close answered %d of 50 claims that waited", stopped)
	}
}

func TestBatcherOptionsThatDoNotExist(t *testing.T) {
	for _, options := range []BatcherOptions{{Soundness: 80}, {Backend: "none"}, {Threads: -2}, {Threads: 1025}, {Linger: -time.Second}, {Soundness: -1}} {
		if _, err := NewBatcher(options); !errors.Is(err, ErrMisuse) {
			t.Errorf("%+v: found %v", options, err)
		}
	}
}
