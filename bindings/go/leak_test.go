package quorate

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// residentBytes is the memory that the process occupies.
func residentBytes(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal("this system does not say how much memory a process has: ", err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(content), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * os.Getpagesize()
}

// QUORATE_CALLS is how many calls are counted, if not 200,000.
func TestCallsKeepNoMemory(t *testing.T) {
	counted := 200_000
	if text, ok := os.LookupEnv("QUORATE_CALLS"); ok {
		number, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal("QUORATE_CALLS: ", err)
		}
		counted = number
	}
	verifier := newVerifier(t, Options{})
	batcher := newBatcher(t, BatcherOptions{})
	bad := []Claim{Single(SuiteEth2, make([]byte, 48), nil, make([]byte, 96)), Single(SuiteDrandQuicknet, nil, nil, nil)}
	round := func(calls int) {
		for range calls {
			if _, err := NewPublicKey(SuiteEth2, bad[0].PublicKeys[0][1:]); err == nil {
				t.Fatal("47 bytes are a key")
			}
			if _, err := ParseSuite("eth3"); err == nil {
				t.Fatal("there is a suite eth3")
			}
		}
		for range calls / 10 {
			for _, verdict := range verdictsOf(t, verifier, bad) {
				if verdict.Code != VerdictEncoding {
					t.Fatalf("found %v", verdict)
				}
			}
			secret, err := SecretKeyFromBytes(SuiteEth2, messageOf(1))
			if err != nil {
				t.Fatal(err)
			}
			set, err := NewKeySet(SuiteEth2)
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range []interface{ Close() error }{secret, set} {
				if err := value.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if answer := one(t, batcher.Submit(Claim{Suite: 99}, ClassGossip, time.Time{})); answer.Err == nil {
				t.Fatal("there is a suite 99")
			}
		}
	}
	round(20_000)
	before := residentBytes(t)
	round(counted)
	after := residentBytes(t)
	t.Logf("resident memory: %.1f MiB before, %.1f MiB after %d more calls", float64(before)/(1<<20), float64(after)/(1<<20), counted)
	if more := after - before; more > 8<<20 {
		t.Errorf("the process has %d bytes more than before", more)
	}
}
