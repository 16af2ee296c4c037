package quorate

import (
	"context"
	"testing"
	"time"
)

func BenchmarkParseSuite(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSuite("eth2"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSuiteLengths(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if SuiteEth2.SignatureLength() != 96 {
			b.Fatal("wrong length")
		}
	}
}

func BenchmarkVerifyOne(b *testing.B) {
	verifier, claim := newVerifier(b, Options{}), claimsOf(b, SuiteEth2, 1, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		verdict, err := verifier.VerifyOne(SuiteEth2, claim.PublicKeys[0], claim.Messages[0], claim.Signature)
		if err != nil || !verdict.Valid() {
			b.Fatal(verdict, err)
		}
	}
}

// A claim that does not decode costs little but the call.
func BenchmarkVerifyOneUndecodable(b *testing.B) {
	verifier := newVerifier(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if verdict, err := verifier.VerifyOne(SuiteEth2, nil, nil, nil); err != nil || verdict.Valid() {
			b.Fatal(verdict, err)
		}
	}
}

func benchmarkVerify(b *testing.B, ctx context.Context, options Options, messages int) {
	verifier, claims := newVerifier(b, options), claimsOf(b, SuiteEth2, 128, messages)
	b.ReportAllocs()
	for b.Loop() {
		if verdicts, err := verifier.Verify(ctx, claims); err != nil || !AllValid(verdicts) {
			b.Fatal(verdicts, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(claims)), "ns/claim")
}

func BenchmarkVerify128DistinctMessages(b *testing.B) {
	benchmarkVerify(b, context.Background(), Options{}, 128)
}

func BenchmarkVerify128DistinctMessagesAllThreads(b *testing.B) {
	benchmarkVerify(b, context.Background(), Options{Threads: AllThreads}, 128)
}

func BenchmarkVerify128OneMessage(b *testing.B) {
	benchmarkVerify(b, context.Background(), Options{}, 1)
}

func BenchmarkVerify128OneMessageCancellable(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	benchmarkVerify(b, ctx, Options{}, 1)
}

// The first time that keys and messages are seen.
func BenchmarkVerify128DistinctMessagesNewVerifier(b *testing.B) {
	claims := claimsOf(b, SuiteEth2, 128, 128)
	b.ReportAllocs()
	for b.Loop() {
		verifier, err := NewVerifier(Options{})
		if err != nil {
			b.Fatal(err)
		}
		if verdicts, err := verifier.Verify(context.Background(), claims); err != nil || !AllValid(verdicts) {
			b.Fatal(verdicts, err)
		}
		verifier.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(claims)), "ns/claim")
}

func BenchmarkPack128(b *testing.B) {
	claims := claimsOf(b, SuiteEth2, 128, 128)
	b.ReportAllocs()
	for b.Loop() {
		packed, err := pack(claims)
		if err != nil {
			b.Fatal(err)
		}
		packed.release()
	}
}

func BenchmarkSign(b *testing.B) {
	secret := secretOf(b, SuiteEth2, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := secret.Sign([]byte("message")); err != nil {
			b.Fatal(err)
		}
	}
}

// What Submit itself adds to a verification: a stopped batcher refuses at once, by the call from C.
func BenchmarkRefusal(b *testing.B) {
	batcher, claim := newBatcher(b, BatcherOptions{}), claimsOf(b, SuiteEth2, 1, 1)[0]
	if err := batcher.Stop(0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if answer := <-batcher.Submit(claim, ClassGossip, time.Time{}); answer.Verdict.Code != VerdictStopped {
			b.Fatal(answer)
		}
	}
}
