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

// Claim says: these keys signed these messages, and this is the sum of their signatures.
//
// Keys, messages and signatures may have any length: what does not decode is the verdict of its claim alone. The zero Claim has no
// suite, and a call with it is an error.
type Claim struct {
	// Suite is the suite of the keys and the signature.
	Suite Suite
	// PublicKeys are the encoded public keys.
	PublicKeys [][]byte
	// Messages are one message for KindShared, one for each key for KindEach, none for KindPossession.
	Messages [][]byte
	// Kind is what the keys signed.
	Kind Kind
	// Signature is the encoded signature, an aggregate if there are several keys.
	Signature []byte
	// Source is who sent the claim, any bytes; empty if nobody is named. Equal bytes are one source, and a [Batcher] bans by it.
	Source string
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

// Possession is the claim that the owner of a key holds its secret. Its signature is the proof.
func Possession(suite Suite, publicKey, proof []byte) Claim {
	return Claim{Suite: suite, PublicKeys: [][]byte{publicKey}, Kind: KindPossession, Signature: proof}
}

// appendTo writes the claim in the packed form of the C interface. Numbers are little-endian and have 32 bits:
//
//	claim = suite kind keys messages bytes{keys} bytes{messages} signature:bytes source:bytes
//	bytes = length byte{length}
func (c *Claim) appendTo(packed []byte) ([]byte, error) {
	if uint64(len(c.PublicKeys)) > math.MaxUint32 || uint64(len(c.Messages)) > math.MaxUint32 {
		return packed, &Error{CodeClaims, "a claim has more keys or messages than 32 bits can count"}
	}
	packed = binary.LittleEndian.AppendUint32(packed, uint32(c.Suite))
	packed = binary.LittleEndian.AppendUint32(packed, uint32(c.Kind))
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(c.PublicKeys)))
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(c.Messages)))
	var err error
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

func appendBytes[T []byte | string](packed []byte, part T) ([]byte, error) {
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
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// mostKept is the size above which memory of a call is not kept for later calls.
const mostKept = 1 << 20

// pack packs claims into memory that the caller gives back by release.
func pack(claims []Claim) (*scratch, error) {
	s := scratches.Get().(*scratch)
	s.packed, s.count = s.packed[:0], len(claims)
	for i := range claims {
		var err error
		if s.packed, err = claims[i].appendTo(s.packed); err != nil {
			s.release()
			return nil, err
		}
	}
	return s, nil
}

func (s *scratch) release() {
	if cap(s.packed) <= mostKept && cap(s.codes) <= mostKept {
		scratches.Put(s)
	}
}
