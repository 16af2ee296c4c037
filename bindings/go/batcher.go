package quorate

/*
#include "shim.h"

#cgo noescape quorate_go_batcher_new
#cgo nocallback quorate_go_batcher_new
*/
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"sync/atomic"
	"time"
	"unsafe"
)

// Class is how urgent a claim is. The numbers are those of the C interface and never change.
type Class uint32

const (
	// ClassBlock is for a block: verified at once, on all threads.
	ClassBlock Class = 0
	// ClassDuty is for what a node needs for its own duties.
	ClassDuty Class = 1
	// ClassGossip is for everything else, which an overloaded batcher refuses first.
	ClassGossip Class = 2
)

// BatcherOptions are how a [Batcher] works. The zero BatcherOptions are the defaults.
type BatcherOptions struct {
	// Threads is how many batches are verified at the same time, each on a thread of its own: 1 to 1024, 0 for one on each
	// core.
	Threads int
	// Soundness is as in [Options].
	Soundness int
	// Backend is as in [Options].
	Backend string
	// Linger is the longest that a claim waits for others while a thread is idle. It waits if batches begin so soon after one another
	// that this takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
	Linger time.Duration
	// Target is the planned work at which a batch is full.
	Target time.Duration
	// Queue is the planned work that may wait for each thread. What comes beyond it is refused.
	Queue time.Duration
	// QueueBytes is the most memory that waiting claims may take, and the most bytes of messages that are hashed for one claim.
	QueueBytes uint64
}

// Batcher verifies claims as they come, in batches, on threads of its own. It separates the sources of claims, and bans those that send
// false ones. Any number of goroutines can use one.
type Batcher struct {
	handle handle
}

// Answer is what a claim got from a [Batcher].
type Answer struct {
	// Verdict is the verdict about the claim; undecided if there is an error.
	Verdict Verdict
	// Err is why the claim was not handed in: [ErrSuite] or [ErrClaims] if it is not a claim, [ErrMisuse] for an unknown class,
	// [ErrClosed].
	Err error
}

// NewBatcher starts a batcher. Close ends it.
//
// The error is [ErrMisuse] for options that do not exist, and [ErrSystem] if there are no threads.
func NewBatcher(options BatcherOptions) (*Batcher, error) {
	threads, err := threadCount(options.Threads)
	if err != nil {
		return nil, err
	}
	soundness, err := bits(options.Soundness)
	if err != nil {
		return nil, err
	}
	for _, time := range []time.Duration{options.Linger, options.Target, options.Queue} {
		if time < 0 {
			return nil, &Error{CodeMisuse, fmt.Sprintf("a time of the batcher's options is negative: %v", time)}
		}
	}
	var fault C.quorate_error
	backend := options.Backend
	pointer := C.quorate_go_batcher_new(threads, soundness, firstOf(backend), C.size_t(len(backend)),
		micros(options.Linger), micros(options.Target), micros(options.Queue), C.uint64_t(options.QueueBytes), &fault)
	if err := failure(&fault); err != nil {
		return nil, err
	}
	batcher := new(Batcher)
	batcher.handle.set(unsafe.Pointer(pointer), func(pointer unsafe.Pointer) {
		C.quorate_batcher_free((*C.quorate_batcher)(pointer))
	})
	return batcher, nil
}

// micros is a time in whole microseconds, rounded up, because 0 is the default.
func micros(time time.Duration) C.uint64_t {
	return C.uint64_t((uint64(time) + 999) / 1000)
}

// Close refuses what waits, waits for the batches in progress and for calls of Stop, and frees the batcher. All answers are there when
// it returns. A second Close is [ErrClosed].
func (b *Batcher) Close() error {
	return b.handle.close()
}

// Stop takes no more claims, answers those that wait for at most this time, in whole milliseconds, and refuses the others. It waits for
// the batches in progress. Later claims get [VerdictStopped]. If several goroutines call it at the same time, the shortest time counts for
// all, and all but one may return before those batches have ended: Close waits for them.
//
// The error after Close is [ErrClosed].
func (b *Batcher) Stop(within time.Duration) error {
	return b.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_batcher_stop((*C.quorate_batcher)(pointer), C.uint64_t(max(within, 0).Milliseconds()), fault)
	})
}

// Submit hands a claim in, and does not wait. The channel gets exactly one answer, and need not be read. The zero deadline is none; a
// deadline counts in whole milliseconds, rounded up, and a claim whose deadline has passed is answered at once.
//
// The claim is copied. Cost beside the verification: about two microseconds.
func (b *Batcher) Submit(claim Claim, class Class, deadline time.Time) <-chan Answer {
	answers := make(chan Answer, 1)
	b.submit(&claim, class, deadline, func(answer Answer) { answers <- answer })
	return answers
}

// Verify hands claims in and waits for all verdicts, which are in their order. Goroutines that call it share batches. The deadline of the
// context is that of the claims.
//
// If there is an error, there are no verdicts. It is that of the context if the context ends first: the claims that are handed in are
// verified nevertheless. Otherwise it is the first error of an [Answer].
func (b *Batcher) Verify(ctx context.Context, claims []Claim, class Class) ([]Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	answers := make([]Answer, len(claims))
	done := make(chan struct{})
	var missing atomic.Int64
	missing.Store(int64(len(claims)))
	for i := range claims {
		b.submit(&claims[i], class, deadline, func(answer Answer) {
			answers[i] = answer
			if missing.Add(-1) == 0 {
				close(done)
			}
		})
	}
	if len(claims) > 0 {
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	verdicts := make([]Verdict, len(claims))
	for i, answer := range answers {
		if answer.Err != nil {
			return nil, answer.Err
		}
		verdicts[i] = answer.Verdict
	}
	return verdicts, nil
}

// waiting is a claim without an answer. It keeps its batcher, so that nothing frees the batcher while somebody waits.
type waiting struct {
	batcher *Batcher
	answer  func(Answer)
}

// submit hands a claim in. The function is called once, on any thread, and must not block.
func (b *Batcher) submit(claim *Claim, class Class, deadline time.Time, answer func(Answer)) {
	var millis int64
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			answer(Answer{Verdict: Verdict{VerdictDeadlinePassed, "the deadline had passed when the claim was handed in"}})
			return
		}
		millis = int64((left + time.Millisecond - 1) / time.Millisecond)
	}
	if err := b.submitPacked(claim, class, millis, answer); err != nil {
		answer(Answer{Err: err})
	}
}

func (b *Batcher) submitPacked(claim *Claim, class Class, millis int64, answer func(Answer)) error {
	s := emptyScratch(1)
	defer s.release()
	if err := s.add(claim); err != nil {
		return err
	}
	pointer, err := b.handle.use()
	if err != nil {
		return err
	}
	defer b.handle.done()
	own := cgo.NewHandle(waiting{b, answer})
	var fault C.quorate_error
	C.quorate_go_batcher_submit((*C.quorate_batcher)(pointer), first(s.packed), C.size_t(len(s.packed)), C.uint32_t(class),
		C.uint64_t(millis), C.uintptr_t(own), &fault)
	if err := failure(&fault); err != nil {
		// The library calls nobody if it fails.
		own.Delete()
		return err
	}
	return nil
}

// quorateGoAnswer is called once for each claim, on a thread of the batcher, or on that of submit.
//
//export quorateGoAnswer
func quorateGoAnswer(own C.uintptr_t, code C.uint8_t, reason *C.char, size C.size_t) {
	handle := cgo.Handle(own)
	waiting := handle.Value().(waiting)
	handle.Delete()
	text := string(unsafe.Slice((*byte)(unsafe.Pointer(reason)), int(size)))
	waiting.answer(Answer{Verdict: Verdict{VerdictCode(code), text}})
}
