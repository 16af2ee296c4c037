package quorate

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestManyGoroutinesOnOneVerifier(t *testing.T) {
	verifier := newVerifier(t, Options{Threads: 2, MostKnown: 64})
	claims := claimsOf(t, SuiteEth2, 8, 4)
	claims[3] = broken(claims[3])
	secret := secretOf(t, SuiteEth2, 0)
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	var group sync.WaitGroup
	for g := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			verify, ctx := verifier.Verify, context.Background()
			if g%2 == 0 {
				verify = verifier.VerifyAndRemember
			}
			if g%3 == 0 {
				ctx = cancellable
			}
			for range 8 {
				verdicts, err := verify(ctx, claims)
				if err != nil || len(verdicts) != len(claims) {
					t.Errorf("found %d verdicts for %d claims, %v", len(verdicts), len(claims), err)
					return
				}
				for i, verdict := range verdicts {
					if verdict.Valid() != (i != 3) {
						t.Errorf("claim %d: found %v", i, verdict)
					}
				}
				_, sign := secret.Sign(messageOf(g))
				_, known := verifier.Known()
				_, plan := verifier.Plan(claims)
				if err := errors.Join(sign, known, plan, verifier.Forget()); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}

// Every call that runs while a value is closed ends with a result or with ErrClosed.
func TestCloseDuringCalls(t *testing.T) {
	claims := claimsOf(t, SuiteEth2, 4, 4)
	for round := range 20 {
		verifier, err := NewVerifier(Options{})
		if err != nil {
			t.Fatal(err)
		}
		batcher, err := NewBatcher(BatcherOptions{Threads: 1, Queue: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		set, err := NewKeySet(SuiteEth2)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := GenerateSecretKey(SuiteEth2)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var ended atomic.Int64
		for range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					verdicts, err := verifier.Verify(context.Background(), claims)
					answers, waits := batcher.Verify(context.Background(), claims, ClassBlock)
					_, signs := secret.Sign(nil)
					pushes := set.PushAssumed(claims[0].PublicKeys...)
					for _, one := range []error{err, waits, signs, pushes} {
						if one != nil && !errors.Is(one, ErrClosed) {
							t.Error(one)
						}
					}
					if err == nil && !AllValid(verdicts) {
						t.Errorf("found %v", verdicts)
					}
					for _, verdict := range answers {
						if !verdict.Valid() && verdict.Code != VerdictStopped {
							t.Errorf("found %v", verdict)
						}
					}
					if err != nil && waits != nil && signs != nil && pushes != nil {
						ended.Add(1)
						return
					}
				}
			}()
		}
		time.Sleep(time.Duration(round%5) * time.Millisecond)
		closers := []interface{ Close() error }{verifier, batcher, set, secret}
		var closed atomic.Int64
		for i := range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				if closers[i%4].Close() == nil {
					closed.Add(1)
				}
			}()
		}
		group.Wait()
		if ended.Load() != 8 || closed.Load() != 4 {
			t.Fatalf("%d goroutines ended, and %d calls of Close succeeded", ended.Load(), closed.Load())
		}
	}
}

func TestValuesThatNobodyCloses(t *testing.T) {
	var freed atomic.Int64
	const values = 50
	for range values {
		verifier, err := NewVerifier(Options{})
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(verifier, func(struct{}) { freed.Add(1) }, struct{}{})
	}
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		runtime.GC()
		if freed.Load() == values {
			return
		}
	}
	t.Errorf("%d of %d values were freed", freed.Load(), values)
}

// A batcher that nobody keeps lives until its claims are answered.
func TestABatcherLivesWhileClaimsWait(t *testing.T) {
	claims := claimsOf(t, SuiteEth2, 40, 40)
	answers := func() (answers []<-chan Answer) {
		batcher, err := NewBatcher(BatcherOptions{Threads: 1, Backend: "portable", Queue: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range claims {
			answers = append(answers, batcher.Submit(claim, ClassGossip, time.Time{}))
		}
		return answers
	}()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	for _, answer := range answers {
		if answer := one(t, answer); !answer.Verdict.Valid() {
			t.Errorf("found %+v", answer)
		}
	}
}
