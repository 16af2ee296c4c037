package quorate

/*
#include "shim.h"

#cgo noescape quorate_suite
#cgo nocallback quorate_suite
#cgo noescape quorate_suite_lengths
#cgo nocallback quorate_suite_lengths
*/
import "C"

import "unsafe"

// ParseSuite is the suite of a name: "eth2", "drand-quicknet", "eigenlayer", or an id of the IETF in full.
//
// The error of an unknown name is [ErrSuite], and lists the names that there are.
func ParseSuite(name string) (Suite, error) {
	var suite C.uint32_t
	var fault C.quorate_error
	if C.quorate_suite((*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.size_t(len(name)), &suite, &fault) != 0 {
		return 0, failure(&fault)
	}
	return Suite(suite), nil
}

// PublicKeyLength is how many bytes a public key has, 0 if there is no such suite.
func (s Suite) PublicKeyLength() int {
	key, _, _ := s.lengths()
	return key
}

// SignatureLength is how many bytes a signature has, 0 if there is no such suite.
func (s Suite) SignatureLength() int {
	_, signature, _ := s.lengths()
	return signature
}

func (s Suite) lengths() (key, signature int, err error) {
	var keySize, signatureSize C.size_t
	var fault C.quorate_error
	if C.quorate_suite_lengths(C.uint32_t(s), &keySize, &signatureSize, &fault) != 0 {
		return 0, 0, failure(&fault)
	}
	return int(keySize), int(signatureSize), nil
}

// sumLength is how many bytes a sum of public keys has. Keys of EigenLayer are points of both groups, and only those of G2 are summed.
func (s Suite) sumLength() (int, error) {
	if s == SuiteEigenLayer {
		return 128, nil
	}
	key, _, err := s.lengths()
	return key, err
}
