package quorate

/*
#include "shim.h"

#cgo noescape quorate_verifier_aggregate_public_keys
#cgo nocallback quorate_verifier_aggregate_public_keys
#cgo noescape quorate_go_verifier_new
#cgo nocallback quorate_go_verifier_new
#cgo noescape quorate_go_verify
#cgo nocallback quorate_go_verify
#cgo noescape quorate_verdicts_reason
#cgo nocallback quorate_verdicts_reason
#cgo noescape quorate_verifier_known
#cgo nocallback quorate_verifier_known
#cgo noescape quorate_verifier_forget
#cgo nocallback quorate_verifier_forget
#cgo noescape quorate_plan
#cgo nocallback quorate_plan
*/
import "C"

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"
)

// AllThreads is the number of threads that stands for all of the machine.
const AllThreads = -1

// mostThreads is the most threads that the library takes.
const mostThreads = 1024

// Options are how a [Verifier] works. The zero Options are the defaults.
type Options struct {
	// Threads is how many threads a call uses, its own included: 1 to 1024, 0 for one, AllThreads for all of the machine. They start and
	// end in the call, which uses no more than one for every sixteen keys of its claims.
	Threads int
	// Soundness is how unlikely it must be that a false claim passes: 64 or 128 bits, 0 for 64.
	Soundness int
	// Backend is the name of a backend, such as "portable"; empty for the fastest of this machine.
	Backend string
	// MostKnown is the most known statements that are kept of each variant: when there are more, the older half is forgotten. 0 is for
	// any number.
	MostKnown uint64
}

// Verifier verifies claims. It keeps decoded keys, hashes of recent messages, and known statements for later calls. Any number of
// goroutines can use one.
type Verifier struct {
	handle handle
}

// NewVerifier makes a verifier. Close frees it.
//
// The error of options that do not exist is [ErrMisuse].
func NewVerifier(options Options) (*Verifier, error) {
	threads, err := threadCount(options.Threads)
	if err != nil {
		return nil, err
	}
	soundness, err := bits(options.Soundness)
	if err != nil {
		return nil, err
	}
	var fault C.quorate_error
	backend := options.Backend
	pointer := C.quorate_go_verifier_new(threads, soundness, firstOf(backend), C.size_t(len(backend)), C.uint64_t(options.MostKnown), &fault)
	if err := failure(&fault); err != nil {
		return nil, err
	}
	verifier := new(Verifier)
	verifier.handle.set(unsafe.Pointer(pointer), func(pointer unsafe.Pointer) {
		C.quorate_verifier_free((*C.quorate_verifier)(pointer))
	})
	return verifier, nil
}

func threadCount(threads int) (C.uint32_t, error) {
	switch {
	case threads == AllThreads:
		return math.MaxUint32, nil
	case threads < 0 || threads > mostThreads:
		return 0, &Error{CodeMisuse, fmt.Sprintf("threads: found %d, expected 0 for the default, 1 to %d, or AllThreads", threads, mostThreads)}
	}
	return C.uint32_t(threads), nil
}

func bits(soundness int) (C.uint32_t, error) {
	if soundness < 0 || uint64(soundness) > math.MaxUint32 {
		return 0, &Error{CodeMisuse, fmt.Sprintf("soundness: found %d, expected 64 or 128", soundness)}
	}
	return C.uint32_t(soundness), nil
}

// Close waits for the calls that run, also those whose context has ended, and frees the verifier. A second Close is [ErrClosed].
func (v *Verifier) Close() error {
	return v.handle.close()
}

// Verify gives one verdict for each claim, in their order; none for no claims. A false claim is a verdict and not an error.
//
// If there is an error, there are no verdicts. It is [ErrSuite] or [ErrClaims] if a claim cannot be handed over, with the number of the
// claim, from 0; [ErrSystem]; [ErrClosed]; or the error of the context. If the context ends first, Verify returns at once, but the work
// that has begun goes on to its end on a goroutine of its own. The claims are copied, so they can be changed when Verify returns.
//
// Cost, if all claims are true: a Miller loop for each message and one more, one final exponentiation, and sums over all keys and over
// all signatures. If some are false, the batch is split until they are found.
func (v *Verifier) Verify(ctx context.Context, claims []Claim) ([]Verdict, error) {
	return v.verify(ctx, claims, false)
}

// VerifyAndRemember is [Verifier.Verify], and remembers valid claims of one key: they cost an addition when a later claim repeats them.
// Set [Options.MostKnown] to bound the memory.
func (v *Verifier) VerifyAndRemember(ctx context.Context, claims []Claim) ([]Verdict, error) {
	return v.verify(ctx, claims, true)
}

func (v *Verifier) verify(ctx context.Context, claims []Claim, remember bool) ([]Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	packed, err := pack(claims)
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, len(claims))
	if ctx.Done() == nil {
		if err := v.decide(packed, remember, verdicts); err != nil {
			return nil, err
		}
		return verdicts, nil
	}
	ended := make(chan error, 1)
	go func() {
		ended <- v.decide(packed, remember, verdicts)
	}()
	select {
	case err := <-ended:
		if err != nil {
			return nil, err
		}
		return verdicts, nil
	case <-ctx.Done():
		// The goroutine still writes to the verdicts, so nobody else gets them.
		return nil, ctx.Err()
	}
}

// VerifyOne verifies one signature by one key over one message. For many claims call [Verifier.Verify], which takes a fraction of the
// time for each.
//
// The verdict of an error is undecided. Cost: two pairings, a hash, and the decoding.
func (v *Verifier) VerifyOne(suite Suite, publicKey, message, signature []byte) (Verdict, error) {
	// The arrays stay on the stack, so that the call allocates nothing.
	keys, messages := [1][]byte{publicKey}, [1][]byte{message}
	claim := Claim{Suite: suite, PublicKeys: keys[:], Messages: messages[:], Kind: KindShared, Signature: signature}
	s := emptyScratch(1)
	var err error
	if s.packed, err = claim.appendTo(s.packed); err != nil {
		s.release()
		return Verdict{}, err
	}
	var verdicts [1]Verdict
	if err := v.decide(s, false, verdicts[:]); err != nil {
		return Verdict{}, err
	}
	return verdicts[0], nil
}

// decide verifies packed claims, writes their verdicts, and gives the memory of the call back. If there is an error, all verdicts stay
// as they are.
func (v *Verifier) decide(s *scratch, remember bool, verdicts []Verdict) error {
	defer s.release()
	pointer, err := v.handle.use()
	if err != nil {
		return err
	}
	defer v.handle.done()

	if cap(s.codes) < s.count {
		s.codes = make([]byte, s.count)
	}
	codes := s.codes[:s.count]
	var fault C.quorate_error
	reasons := C.quorate_go_verify((*C.quorate_verifier)(pointer), first(s.packed), C.size_t(len(s.packed)), C.size_t(s.count),
		C.bool(remember), first(codes), &fault)
	if err := failure(&fault); err != nil {
		return err
	}
	if reasons != nil {
		defer C.quorate_verdicts_free(reasons)
	}
	for i, code := range codes {
		verdicts[i].Code = VerdictCode(code)
		if !verdicts[i].Valid() {
			verdicts[i].Reason = reason(reasons, i)
		}
	}
	return nil
}

// reason is why a claim is not valid.
func reason(reasons *C.quorate_verdicts, index int) string {
	text, err := longText(256, func(place []byte) (int, error) {
		var length C.size_t
		var fault C.quorate_error
		C.quorate_verdicts_reason(reasons, C.size_t(index), (*C.char)(unsafe.Pointer(first(place))), C.size_t(len(place)), &length, &fault)
		return int(length), failure(&fault)
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// Plan is what would be computed to verify claims, as text for people. Nothing is verified, but the claims are decoded.
//
// The errors are those of [Verifier.Verify].
func (v *Verifier) Plan(claims []Claim) (string, error) {
	packed, err := pack(claims)
	if err != nil {
		return "", err
	}
	defer packed.release()
	pointer, err := v.handle.use()
	if err != nil {
		return "", err
	}
	defer v.handle.done()
	return longText(4096, func(place []byte) (int, error) {
		var length C.size_t
		var fault C.quorate_error
		C.quorate_plan((*C.quorate_verifier)(pointer), first(packed.packed), C.size_t(len(packed.packed)),
			(*C.char)(unsafe.Pointer(first(place))), C.size_t(len(place)), &length, &fault)
		return int(length), failure(&fault)
	})
}

// AggregatePublicKeys is the sum of public keys, under which a signature by all of them over one message verifies; in a BDN suite with its
// coefficients. In the other suites rely on it only if the owner of each key has shown that it holds the secret.
//
// The error is [ErrEncoding] if one does not decode; [ErrMisuse] for none, if they add up to the identity, in a BDN suite if one stands
// there twice, and in SuiteEigenLayer. Cost: an addition for each; a key that the verifier has not decoded yet is decoded and checked. A claim of the sum decodes nothing.
func (v *Verifier) AggregatePublicKeys(suite Suite, keys [][]byte) (PublicKey, error) {
	length, _, err := suite.lengths()
	if err != nil {
		return PublicKey{}, err
	}
	all, err := joined("public key", keys, length)
	if err != nil {
		return PublicKey{}, err
	}
	sum, err := v.handle.write(length, func(pointer unsafe.Pointer, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_verifier_aggregate_public_keys((*C.quorate_verifier)(pointer), C.uint32_t(suite), first(all), C.size_t(len(all)), place, size, fault)
	})
	if err != nil {
		return PublicKey{}, err
	}
	return PublicKey{suite, string(sum)}, nil
}

// Known is how many statements the verifier knows.
func (v *Verifier) Known() (int, error) {
	var known C.size_t
	err := v.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_verifier_known((*C.quorate_verifier)(pointer), &known, fault)
	})
	return int(known), err
}

// Forget forgets all known statements.
func (v *Verifier) Forget() error {
	return v.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_verifier_forget((*C.quorate_verifier)(pointer), fault)
	})
}

// shared is the verifier of the functions of the package.
var shared = sync.OnceValues(newShared)

// newShared makes a verifier with as many threads as GOMAXPROCS says, or as many as the library takes.
func newShared() (*Verifier, error) {
	return NewVerifier(Options{Threads: min(runtime.GOMAXPROCS(0), mostThreads)})
}

// Verify is [Verifier.Verify] of a verifier that the whole program shares. It uses as many threads as GOMAXPROCS says when the verifier is
// first used, 1024 at most, and remembers no statements.
func Verify(ctx context.Context, claims []Claim) ([]Verdict, error) {
	verifier, err := shared()
	if err != nil {
		return nil, err
	}
	return verifier.Verify(ctx, claims)
}

// VerifyOne is [Verifier.VerifyOne] of a verifier that the whole program shares.
func VerifyOne(suite Suite, publicKey, message, signature []byte) (Verdict, error) {
	verifier, err := shared()
	if err != nil {
		return Verdict{}, err
	}
	return verifier.VerifyOne(suite, publicKey, message, signature)
}

// AggregatePublicKeys is [Verifier.AggregatePublicKeys] of a verifier that the whole program shares.
func AggregatePublicKeys(suite Suite, keys [][]byte) (PublicKey, error) {
	verifier, err := shared()
	if err != nil {
		return PublicKey{}, err
	}
	return verifier.AggregatePublicKeys(suite, keys)
}
