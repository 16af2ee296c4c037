package quorate

/*
#include "shim.h"

#cgo noescape quorate_go_key_set_new
#cgo nocallback quorate_go_key_set_new
#cgo noescape quorate_key_set_number
#cgo nocallback quorate_key_set_number
#cgo noescape quorate_key_set_push
#cgo nocallback quorate_key_set_push
#cgo noescape quorate_key_set_prove
#cgo nocallback quorate_key_set_prove
#cgo noescape quorate_key_set_members
#cgo nocallback quorate_key_set_members
#cgo noescape quorate_key_set_sum
#cgo nocallback quorate_key_set_sum
#cgo noescape quorate_go_key_set_verify
#cgo nocallback quorate_go_key_set_verify
#cgo noescape quorate_verdicts_free
#cgo nocallback quorate_verdicts_free
*/
import "C"

import (
	"fmt"
	mathbits "math/bits"
	"unsafe"
)

// Bitmap names members of a [KeySet]: bit i, counted from the lowest bit of the first byte, is the member with index i.
type Bitmap []byte

// BitmapOf is the bitmap of these members, in any order. An index that stands there twice counts once: count the members of a quorum by
// [Bitmap.Count], and not by the length of the list. It takes a byte for each 8 members up to the greatest index. It panics for a negative
// index, as a slice does.
func BitmapOf(indices ...int) Bitmap {
	greatest := -1
	for _, index := range indices {
		greatest = max(greatest, index)
	}
	members := make(Bitmap, (greatest+8)/8)
	for _, index := range indices {
		members[index>>3] |= 1 << (index & 7)
	}
	return members
}

// Count is how many members the bitmap names.
func (b Bitmap) Count() int {
	count := 0
	for _, eight := range b {
		count += mathbits.OnesCount8(eight)
	}
	return count
}

// KeySet is a committee's keys by index, which are read and checked once. It keeps its last sums, and computes the next one from the
// difference if that takes less. Any number of goroutines can use one.
//
// In a suite of proofs of possession a member takes part with others only if it has proven that it holds its secret, or if you say by PushAssumed
// that it did elsewhere. With a wrong word, the owner of a rogue key can forge for all members.
//
// A [Claim] names members of a set, so that many of them are verified together, and by a [Batcher].
type KeySet struct {
	handle handle
	suite  Suite
	// number is that by which packed claims name the set.
	number uint64
}

// NewKeySet makes an empty set. Close frees it.
//
// The error is [ErrSuite].
func NewKeySet(suite Suite) (*KeySet, error) {
	var fault C.quorate_error
	pointer := C.quorate_go_key_set_new(C.uint32_t(suite), &fault)
	if err := failure(&fault); err != nil {
		return nil, err
	}
	set := &KeySet{suite: suite}
	set.handle.set(unsafe.Pointer(pointer), func(pointer unsafe.Pointer) {
		C.quorate_key_set_free((*C.quorate_key_set)(pointer))
	})
	var number C.uint64_t
	C.quorate_key_set_number(pointer, &number, &fault)
	set.number = uint64(number)
	return set, failure(&fault)
}

// Close waits for the calls that run, and frees the set. Claims that a [Batcher] has keep what they need of it. A second Close is
// [ErrClosed].
func (k *KeySet) Close() error {
	return k.handle.close()
}

// Suite is the suite of the keys.
func (k *KeySet) Suite() Suite {
	return k.suite
}

// Push adds members, whose indices follow those of the members so far: all of them, or none. No keys add no members. In a suite of proofs
// of possession each takes part after a successful Prove.
//
// The error is [ErrEncoding] if a key does not decode, with its number. Cost: a decoding and a check of the subgroup for each.
func (k *KeySet) Push(keys ...[]byte) error {
	return k.push(keys, false)
}

// PushAssumed is Push of members whose owners have shown elsewhere that they hold their secrets, as validators of Ethereum do by their
// deposits.
func (k *KeySet) PushAssumed(keys ...[]byte) error {
	return k.push(keys, true)
}

func (k *KeySet) push(keys [][]byte, assumed bool) error {
	length, _, err := k.suite.lengths()
	if err != nil {
		return err
	}
	all, err := joined("public key", keys, length)
	if err != nil {
		return err
	}
	return k.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_key_set_push((*C.quorate_key_set)(pointer), first(all), C.size_t(len(all)), C.bool(assumed), fault)
	})
}

// Prove verifies that a member holds the secret of its key, and says whether it is true. The set remembers it.
//
// The error is [ErrEncoding] if the proof does not decode; [ErrMisuse] if there is no such member, and in a suite without such proofs.
func (k *KeySet) Prove(index int, proof []byte) (bool, error) {
	if index < 0 {
		return false, &Error{CodeMisuse, fmt.Sprintf("there is no member %d", index)}
	}
	var proven C.bool
	err := k.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_key_set_prove((*C.quorate_key_set)(pointer), C.size_t(index), first(proof), C.size_t(len(proof)), &proven, fault)
	})
	return bool(proven), err
}

// Len is how many members there are; 0 after Close.
func (k *KeySet) Len() int {
	var members C.size_t
	// It fails after Close alone.
	_ = k.handle.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		C.quorate_key_set_members((*C.quorate_key_set)(pointer), &members, fault)
	})
	return int(members)
}

// Sum is the sum of the members' keys, encoded, also of members that have proven nothing: verify with Verify, and not under this sum. For
// no members it is the identity, which is not a key. In SuiteEigenLayer it is the sum of the keys in G2, 128 bytes.
//
// The error is [ErrMisuse] if there is no such member, and in a BDN suite, where keys are added with coefficients. Cost: an addition for
// each member, or for each that joined or left since the last sum, whichever is less.
func (k *KeySet) Sum(members Bitmap) ([]byte, error) {
	length, err := k.suite.sumLength()
	if err != nil {
		return nil, err
	}
	return k.handle.write(length, func(pointer unsafe.Pointer, sum *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_key_set_sum((*C.quorate_key_set)(pointer), first(members), C.size_t(len(members)), sum, size, fault)
	})
}

// Verify verifies that these members signed a message.
//
// The verdict of an error is undecided. The error is [ErrEncoding] if the signature does not decode; one outside the subgroup is a verdict.
// It is [ErrMisuse] for no members, unless the suite allows that, as SuiteEth2SyncAggregate does; for members that are not there, or
// without a proof of possession; for keys that add up to the identity; and in suites of schemes without multi-signatures. Cost: that of
// Sum, two pairings and a hash.
func (k *KeySet) Verify(members Bitmap, message, signature []byte) (Verdict, error) {
	pointer, err := k.handle.use()
	if err != nil {
		return Verdict{}, err
	}
	defer k.handle.done()
	var code C.uint8_t
	var fault C.quorate_error
	reasons := C.quorate_go_key_set_verify((*C.quorate_key_set)(pointer), first(members), C.size_t(len(members)), first(message),
		C.size_t(len(message)), first(signature), C.size_t(len(signature)), &code, &fault)
	if err := failure(&fault); err != nil {
		return Verdict{}, err
	}
	defer C.quorate_verdicts_free(reasons)
	return Verdict{VerdictCode(code), reason(reasons, 0)}, nil
}
