//go:build cgo

// A claim can name a key set, which is of the C library.

package quorate

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// Kind is what the keys of a claim signed. The numbers are those of the C interface and never change.
type Kind uint32

const (
	// KindShared says that every key signed the one message.
	KindShared Kind = 0
	// KindEach says that each key signed the message at its index.
	KindEach Kind = 1
	// KindPossession says that the one key signed its own encoding: a proof that its owner holds the secret. It has no messages.
	KindPossession Kind = 2
)

// Claim says: these keys signed these messages, and this is the sum of their signatures. The keys stand in it, or it names members of a
// [KeySet], so that a claim of 512 keys takes 64 bytes for them and decodes none.
//
// Keys, messages and signatures may have any length: what does not decode is the verdict of its claim alone. The zero Claim has no
// suite, and a call with it is an error.
type Claim struct {
	// Suite is the suite of the keys and the signature.
	Suite Suite
	// PublicKeys are the encoded public keys; none beside a KeySet.
	PublicKeys [][]byte
	// Messages are one message for KindShared, one for each key for KindEach, none for KindPossession.
	Messages [][]byte
	// Kind is what the keys signed.
	Kind Kind
	// Signature is the encoded signature, an aggregate if there are several keys.
	Signature []byte
	// Source is who sent the claim, any bytes; empty if nobody is named. Equal bytes are one source, and a [Batcher] bans by it.
	Source string
	// KeySet is, in the place of PublicKeys, a set whose members signed. The claim is about the set as it is when the call begins. A set of
	// keys in the other group than those of Suite, a member that the set does not have, and in a suite of proofs of possession several
	// members of whom one has proven nothing, are VerdictKeySet. A closed set is [ErrClosed] for the whole call.
	KeySet *KeySet
	// Members are those of KeySet who signed. Zeros at the end stand for nobody.
	Members Bitmap
	// Indices are, in the place of Members, the indices of those who signed, in any order. An index may repeat, and each counts: do not take
	// their number for that of the members. In a BDN suite a repeated one is VerdictRule.
	Indices []uint32
}

// Single is the claim that one key signed one message.
func Single(suite Suite, publicKey, message, signature []byte) Claim {
	return Claim{Suite: suite, PublicKeys: [][]byte{publicKey}, Messages: [][]byte{message}, Kind: KindShared, Signature: signature}
}

// Shared is the claim that all keys signed one message.
func Shared(suite Suite, publicKeys [][]byte, message, signature []byte) Claim {
	return Claim{Suite: suite, PublicKeys: publicKeys, Messages: [][]byte{message}, Kind: KindShared, Signature: signature}
}

// Each is the claim that each key signed the message at its index.
func Each(suite Suite, publicKeys, messages [][]byte, signature []byte) Claim {
	return Claim{Suite: suite, PublicKeys: publicKeys, Messages: messages, Kind: KindEach, Signature: signature}
}

// OfMembers is the claim that members of a set signed one message, in the suite of the set. It panics for a nil set.
func OfMembers(set *KeySet, members Bitmap, message, signature []byte) Claim {
	return Claim{Suite: set.suite, KeySet: set, Members: members, Messages: [][]byte{message}, Kind: KindShared, Signature: signature}
}

// Possession is the claim that the owner of a key holds its secret. Its signature is the proof.
func Possession(suite Suite, publicKey, proof []byte) Claim {
	return Claim{Suite: suite, PublicKeys: [][]byte{publicKey}, Kind: KindPossession, Signature: proof}
}

// appendTo writes the claim in the packed form of the C interface. Numbers are little-endian and have 32 bits:
//
//	claim   = suite kind keys messages signers bytes{messages} signature:bytes source:bytes
//	signers = bytes{keys}, or set:64 bits members:bytes
//	bytes   = length byte{length}
//
// Members add a number to the kind, which says whether they are a bitmap or indices.
func (c *Claim) appendTo(packed []byte) ([]byte, error) {
	if uint64(len(c.PublicKeys)) > math.MaxUint32 || uint64(len(c.Messages)) > math.MaxUint32 {
		return packed, &Error{CodeClaims, "a claim has more keys or messages than 32 bits can count"}
	}
	kind, err := c.packedKind()
	if err != nil {
		return packed, err
	}
	packed = binary.LittleEndian.AppendUint32(packed, uint32(c.Suite))
	packed = binary.LittleEndian.AppendUint32(packed, kind)
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(c.PublicKeys)))
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(c.Messages)))
	if c.KeySet != nil {
		if packed, err = c.appendMembers(packed); err != nil {
			return packed, err
		}
	}
	for _, key := range c.PublicKeys {
		if packed, err = appendBytes(packed, key); err != nil {
			return packed, err
		}
	}
	for _, message := range c.Messages {
		if packed, err = appendBytes(packed, message); err != nil {
			return packed, err
		}
	}
	if packed, err = appendBytes(packed, c.Signature); err != nil {
		return packed, err
	}
	return appendBytes(packed, c.Source)
}

// The numbers that members add to a kind: those of quorate_signers in the C interface.
const (
	membersOfBitmap  = 256
	membersOfIndices = 512
)

// packedKind is the kind with what it says about the signers.
func (c *Claim) packedKind() (uint32, error) {
	// Otherwise a kind that does not exist could stand for members.
	if c.Kind > KindPossession {
		return 0, &Error{CodeClaims, fmt.Sprintf("there is no kind %d of messages: expected 0, 1 or 2", uint32(c.Kind))}
	}
	switch {
	case c.KeySet == nil && len(c.Members) == 0 && len(c.Indices) == 0:
		return uint32(c.Kind), nil
	case c.KeySet == nil:
		return 0, &Error{CodeClaims, "members are named, but no key set; give it in KeySet"}
	case len(c.PublicKeys) > 0:
		return 0, &Error{CodeClaims, "PublicKeys and KeySet are both given; keep one of them"}
	case len(c.Members) > 0 && len(c.Indices) > 0:
		return 0, &Error{CodeClaims, "Members and Indices are both given; keep one of them"}
	case len(c.Indices) > 0:
		return uint32(c.Kind) + membersOfIndices, nil
	}
	return uint32(c.Kind) + membersOfBitmap, nil
}

// appendMembers writes the number of the set, and its members.
func (c *Claim) appendMembers(packed []byte) ([]byte, error) {
	packed = binary.LittleEndian.AppendUint64(packed, c.KeySet.number)
	if len(c.Indices) == 0 {
		return appendBytes(packed, c.Members)
	}
	if uint64(len(c.Indices)) > math.MaxUint32/4 {
		return packed, &Error{CodeClaims, "a claim has more bytes of indices than 32 bits can count"}
	}
	packed = binary.LittleEndian.AppendUint32(packed, uint32(4*len(c.Indices)))
	for _, index := range c.Indices {
		packed = binary.LittleEndian.AppendUint32(packed, index)
	}
	return packed, nil
}

func appendBytes[T ~[]byte | string](packed []byte, part T) ([]byte, error) {
	if uint64(len(part)) > math.MaxUint32 {
		return packed, &Error{CodeClaims, fmt.Sprintf("a part of a claim has %d bytes, more than 32 bits can count", len(part))}
	}
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(part)))
	return append(packed, part...), nil
}

// scratch is memory of one call: the packed claims, and the codes of their verdicts.
type scratch struct {
	packed []byte
	codes  []byte
	count  int
	// Sets that the claims name, so that the collector frees none of them before the library has read the claims.
	sets []*KeySet
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// mostKept is the size above which memory of a call is not kept for later calls.
const mostKept = 1 << 20

// emptyScratch is memory for so many claims.
func emptyScratch(count int) *scratch {
	s := scratches.Get().(*scratch)
	s.packed, s.count = s.packed[:0], count
	return s
}

// pack packs claims into memory that the caller gives back by release.
func pack(claims []Claim) (*scratch, error) {
	s := emptyScratch(len(claims))
	for i := range claims {
		if err := s.add(&claims[i]); err != nil {
			s.release()
			return nil, numbered(i, err)
		}
	}
	return s, nil
}

// numbered says in an error, as the library does, which claim cannot be handed over.
func numbered(index int, err error) error {
	if found, ok := err.(*Error); ok {
		return &Error{found.Code, fmt.Sprintf("claim %d: %s", index, found.Text)}
	}
	return err
}

// add packs one more claim.
func (s *scratch) add(claim *Claim) error {
	if claim.KeySet != nil {
		s.sets = append(s.sets, claim.KeySet)
	}
	var err error
	s.packed, err = claim.appendTo(s.packed)
	return err
}

func (s *scratch) release() {
	clear(s.sets)
	s.sets = s.sets[:0]
	if cap(s.packed) <= mostKept && cap(s.codes) <= mostKept {
		scratches.Put(s)
	}
}
