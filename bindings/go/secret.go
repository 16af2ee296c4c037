package quorate

/*
#include "shim.h"

#cgo noescape quorate_go_secret_key_generate
#cgo nocallback quorate_go_secret_key_generate
#cgo noescape quorate_go_secret_key_derive
#cgo nocallback quorate_go_secret_key_derive
#cgo noescape quorate_go_secret_key_from_bytes
#cgo nocallback quorate_go_secret_key_from_bytes
#cgo noescape quorate_secret_key_to_bytes
#cgo nocallback quorate_secret_key_to_bytes
#cgo noescape quorate_secret_key_public_key
#cgo nocallback quorate_secret_key_public_key
#cgo noescape quorate_secret_key_sign
#cgo nocallback quorate_secret_key_sign
#cgo noescape quorate_secret_key_prove
#cgo nocallback quorate_secret_key_prove
*/
import "C"

import "unsafe"

// SecretKey is a secret key. The library wipes it when it is closed, and computes with it in constant time. It is never printed. Any
// number of goroutines can use one.
type SecretKey struct {
	handle handle
	suite  Suite
}

// GenerateSecretKey makes a new secret key from the random numbers of the operating system. Close wipes it.
//
// The error is [ErrSystem] if there are no random numbers, and [ErrSuite].
func GenerateSecretKey(suite Suite) (*SecretKey, error) {
	var fault C.quorate_error
	pointer := C.quorate_go_secret_key_generate(C.uint32_t(suite), &fault)
	return newSecretKey(suite, pointer, &fault)
}

// DeriveSecretKey derives a secret key from at least 32 bytes of key material, which must be secret: KeyGen of
// draft-irtf-cfrg-bls-signature-05, section 2.3, and in SuiteChia that of draft 3. The info may be empty. Close wipes the key, and the
// caller wipes the material.
//
// The error of material that is too short is [ErrEncoding].
func DeriveSecretKey(suite Suite, material, info []byte) (*SecretKey, error) {
	var fault C.quorate_error
	pointer := C.quorate_go_secret_key_derive(C.uint32_t(suite), first(material), C.size_t(len(material)), first(info), C.size_t(len(info)), &fault)
	return newSecretKey(suite, pointer, &fault)
}

// SecretKeyFromBytes reads a secret key: 32 bytes, big-endian, from 1 to the order of the group less one. Close wipes it, and the caller
// wipes the bytes.
//
// The error of other bytes is [ErrEncoding].
func SecretKeyFromBytes(suite Suite, secret []byte) (*SecretKey, error) {
	var fault C.quorate_error
	pointer := C.quorate_go_secret_key_from_bytes(C.uint32_t(suite), first(secret), C.size_t(len(secret)), &fault)
	return newSecretKey(suite, pointer, &fault)
}

func newSecretKey(suite Suite, pointer *C.quorate_secret_key, fault *C.quorate_error) (*SecretKey, error) {
	if err := failure(fault); err != nil {
		return nil, err
	}
	secret := &SecretKey{suite: suite}
	secret.handle.set(unsafe.Pointer(pointer), func(pointer unsafe.Pointer) {
		C.quorate_secret_key_free((*C.quorate_secret_key)(pointer))
	})
	return secret, nil
}

// Close waits for the calls that run, and wipes the secret. A second Close is [ErrClosed].
func (s *SecretKey) Close() error {
	return s.handle.close()
}

// Suite is the suite of the key.
func (s *SecretKey) Suite() Suite {
	return s.suite
}

// String names the suite and shows nothing of the secret.
func (s *SecretKey) String() string {
	return "secret key of " + s.suite.String()
}

// GoString is String, so that no format shows more.
func (s *SecretKey) GoString() string {
	return s.String()
}

// Bytes are a copy of the 32 bytes of the secret, big-endian. The caller wipes it.
//
// The error after Close is [ErrClosed].
func (s *SecretKey) Bytes() ([]byte, error) {
	return s.write(32, func(secret *C.quorate_secret_key, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_secret_key_to_bytes(secret, place, size, fault)
	})
}

// PublicKey is the public key of the secret.
//
// The error after Close is [ErrClosed]. Cost: a multiplication in the group of keys, in constant time.
func (s *SecretKey) PublicKey() (PublicKey, error) {
	length, _, err := s.suite.lengths()
	if err != nil {
		return PublicKey{}, err
	}
	key, err := s.write(length, func(secret *C.quorate_secret_key, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_secret_key_public_key(secret, place, size, fault)
	})
	if err != nil {
		return PublicKey{}, err
	}
	return PublicKey{s.suite, string(key)}, nil
}

// Sign signs a message.
//
// The error is [ErrMisuse] if the suite signs no such message, as SuiteEigenLayer signs 32 bytes alone, and [ErrClosed] after Close.
// Cost: a hash and a multiplication in the group of signatures, in constant time.
func (s *SecretKey) Sign(message []byte) (Signature, error) {
	return s.sign(func(secret *C.quorate_secret_key, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_secret_key_sign(secret, first(message), C.size_t(len(message)), place, size, fault)
	})
}

// Prove is a proof that the owner of the public key holds the secret. A claim of [Possession] verifies it.
//
// The error is [ErrMisuse] in a suite without such proofs, and [ErrClosed] after Close.
func (s *SecretKey) Prove() (Signature, error) {
	return s.sign(func(secret *C.quorate_secret_key, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		C.quorate_secret_key_prove(secret, place, size, fault)
	})
}

// call is a function of the library that writes bytes of a secret key.
type call func(secret *C.quorate_secret_key, place *C.uint8_t, size C.size_t, fault *C.quorate_error)

func (s *SecretKey) sign(call call) (Signature, error) {
	_, length, err := s.suite.lengths()
	if err != nil {
		return Signature{}, err
	}
	signature, err := s.write(length, call)
	if err != nil {
		return Signature{}, err
	}
	return Signature{s.suite, string(signature)}, nil
}

func (s *SecretKey) write(length int, call call) ([]byte, error) {
	return s.handle.write(length, func(pointer unsafe.Pointer, place *C.uint8_t, size C.size_t, fault *C.quorate_error) {
		call((*C.quorate_secret_key)(pointer), place, size, fault)
	})
}
