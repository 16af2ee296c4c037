package quorate

/*
#include "shim.h"

#cgo noescape quorate_check_public_key
#cgo nocallback quorate_check_public_key
#cgo noescape quorate_check_signature
#cgo nocallback quorate_check_signature
#cgo noescape quorate_aggregate
#cgo nocallback quorate_aggregate
#cgo noescape quorate_aggregate_checked
#cgo nocallback quorate_aggregate_checked
#cgo noescape quorate_go_bdn_aggregate
#cgo nocallback quorate_go_bdn_aggregate
#cgo noescape quorate_go_subtract
#cgo nocallback quorate_go_subtract
*/
import "C"

import (
	"encoding/hex"
	"fmt"
)

// PublicKey is a public key that was checked: canonical, on the curve, in the subgroup, not the identity. Keys can be compared by ==,
// and are keys of maps. The zero PublicKey has no suite and no bytes.
type PublicKey struct {
	suite    Suite
	encoding string
}

// NewPublicKey checks a public key of a suite.
//
// The error of bytes that are not a key is [ErrEncoding]. Cost: the decoding and a check of the subgroup.
func NewPublicKey(suite Suite, encoding []byte) (PublicKey, error) {
	var fault C.quorate_error
	C.quorate_check_public_key(C.uint32_t(suite), first(encoding), C.size_t(len(encoding)), &fault)
	if err := failure(&fault); err != nil {
		return PublicKey{}, err
	}
	return PublicKey{suite, string(encoding)}, nil
}

// Suite is the suite of the key.
func (k PublicKey) Suite() Suite {
	return k.suite
}

// Bytes are a copy of the encoding, as claims have it.
func (k PublicKey) Bytes() []byte {
	return []byte(k.encoding)
}

// String is the encoding in hexadecimal digits.
func (k PublicKey) String() string {
	return hex.EncodeToString([]byte(k.encoding))
}

// Signature is a signature that was checked: canonical, on the curve, in the subgroup. Nothing says that it is of a key over a message.
// Signatures can be compared by ==. The zero Signature has no suite and no bytes.
type Signature struct {
	suite    Suite
	encoding string
}

// NewSignature checks a signature of a suite. It says nothing about who signed what.
//
// The error of bytes that are not a signature is [ErrEncoding]. Cost: the decoding and a check of the subgroup.
func NewSignature(suite Suite, encoding []byte) (Signature, error) {
	var fault C.quorate_error
	C.quorate_check_signature(C.uint32_t(suite), first(encoding), C.size_t(len(encoding)), &fault)
	if err := failure(&fault); err != nil {
		return Signature{}, err
	}
	return Signature{suite, string(encoding)}, nil
}

// Suite is the suite of the signature.
func (s Signature) Suite() Suite {
	return s.suite
}

// Bytes are a copy of the encoding, as claims have it.
func (s Signature) Bytes() []byte {
	return []byte(s.encoding)
}

// String is the encoding in hexadecimal digits.
func (s Signature) String() string {
	return hex.EncodeToString([]byte(s.encoding))
}

// Aggregate is the sum of signatures. It does not say whether any of them is valid.
//
// The error is [ErrEncoding] if one does not decode; [ErrMisuse] for none, and in a BDN suite, where each signature needs its key:
// [BDNAggregate].
// Cost: a decoding, a check of the subgroup and an addition for each.
func Aggregate(suite Suite, signatures [][]byte) (Signature, error) {
	_, length, err := suite.lengths()
	if err != nil {
		return Signature{}, err
	}
	all, err := joined("signature", signatures, length)
	if err != nil {
		return Signature{}, err
	}
	return written(suite, length, func(sum *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_aggregate(C.uint32_t(suite), first(all), C.size_t(len(all)), sum, size, fault)
	})
}

// written is a signature that a function of the library writes.
func written(suite Suite, length int, call func(place *C.uint8_t, size C.size_t, fault *C.quorate_error)) (Signature, error) {
	signature := make([]byte, length)
	var fault C.quorate_error
	call(first(signature), C.size_t(length), &fault)
	if err := failure(&fault); err != nil {
		return Signature{}, err
	}
	return Signature{suite, string(signature)}, nil
}

// AggregateChecked is Aggregate of signatures that were checked. Cost: a decoding and an addition for each.
//
// The error is also [ErrMisuse] if a signature is of another suite.
func AggregateChecked(suite Suite, signatures []Signature) (Signature, error) {
	_, length, err := suite.lengths()
	if err != nil {
		return Signature{}, err
	}
	all := make([]byte, 0, len(signatures)*length)
	for i, signature := range signatures {
		if signature.suite != suite {
			return Signature{}, &Error{CodeMisuse, fmt.Sprintf("signature %d, counted from 0: found the suite %v, expected %v", i, signature.suite, suite)}
		}
		all = append(all, signature.encoding...)
	}
	return written(suite, length, func(sum *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_aggregate_checked(C.uint32_t(suite), first(all), C.size_t(len(all)), sum, size, fault)
	})
}

// BDNAggregate is the aggregate of a BDN suite, [SuiteMinPkBDN] or [SuiteMinSigBDN]: the signature of several keys over one message, with the
// coefficients of exactly these keys. The signature of each key stands at its index. It believes that each is valid: verify them first, as
// claims of one key, or a false one spoils the aggregate. A claim of these keys verifies it, and so does one of their [AggregatePublicKeys].
//
// The error is [ErrEncoding] if a key or a signature does not decode; [ErrMisuse] in another suite, for none, for other numbers of keys than of
// signatures, and if a key stands there twice. Cost: decoding both, and a sum with weights of 128 bits.
func BDNAggregate(suite Suite, publicKeys, signatures [][]byte) (Signature, error) {
	keyLength, length, err := suite.lengths()
	if err != nil {
		return Signature{}, err
	}
	keys, err := joined("public key", publicKeys, keyLength)
	if err != nil {
		return Signature{}, err
	}
	all, err := joined("signature", signatures, length)
	if err != nil {
		return Signature{}, err
	}
	return written(suite, length, func(aggregate *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_go_bdn_aggregate(C.uint32_t(suite), first(keys), C.size_t(len(keys)), first(all), C.size_t(len(all)), aggregate, size, fault)
	})
}

// Subtract is a sum of signatures without some of its parts. That they are parts of it is the caller's knowledge.
//
// The error is [ErrEncoding] if a signature does not decode, and [ErrMisuse] in a BDN suite. Without parts it is the sum.
func Subtract(suite Suite, sum []byte, parts [][]byte) (Signature, error) {
	_, length, err := suite.lengths()
	if err != nil {
		return Signature{}, err
	}
	all, err := joined("signature", parts, length)
	if err != nil {
		return Signature{}, err
	}
	return written(suite, length, func(rest *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_go_subtract(C.uint32_t(suite), first(sum), C.size_t(len(sum)), first(all), C.size_t(len(all)), rest, size, fault)
	})
}

// joined puts encodings one behind another, as the library takes them. It checks each length, because bytes that are missing in one
// encoding and too many in the next would make another list.
func joined(what string, encodings [][]byte, length int) ([]byte, error) {
	all := make([]byte, 0, len(encodings)*length)
	for i, encoding := range encodings {
		if len(encoding) != length {
			text := fmt.Sprintf("%s %d, counted from 0: found %d bytes, expected %d", what, i, len(encoding), length)
			return nil, &Error{CodeEncoding, text}
		}
		all = append(all, encoding...)
	}
	return all, nil
}
