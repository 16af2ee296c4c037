package quorate

/*
#include "shim.h"

#cgo noescape quorate_abi
#cgo nocallback quorate_abi
#cgo noescape quorate_version
#cgo nocallback quorate_version
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

func init() {
	checkABI(uint32(C.quorate_abi()), C.QUORATE_ABI)
}

// checkABI ends the program if the library has another interface than the header that the package was compiled with. Every call could
// then read memory wrongly.
func checkABI(library, header uint32) {
	if library != header {
		panic(fmt.Sprintf("quorate: the linked libquorate has interface %d, but the package was compiled with the header of "+
			"interface %d: install the library and the header of one version", library, header))
	}
}

// Version is the version of the C library.
func Version() string {
	return C.GoString(C.quorate_version())
}

// failure is the error of a call, nil if it did not fail.
func failure(fault *C.quorate_error) error {
	if fault.code == 0 {
		return nil
	}
	text := textOf(unsafe.Slice((*byte)(unsafe.Pointer(&fault.text[0])), len(fault.text)))
	if ErrorCode(fault.code) == CodeHandle {
		// A claim names a key set that is closed: handles of this package are used by no call after their Close.
		return fmt.Errorf("%w: %s", ErrClosed, text)
	}
	return &Error{ErrorCode(fault.code), text}
}

// textOf is the text in front of the first zero.
func textOf(text []byte) string {
	for i, b := range text {
		if b == 0 {
			return string(text[:i])
		}
	}
	return string(text)
}

// longText reads a text whose length the library says: read writes what fits into the place, and gives the full length.
func longText(room int, read func(place []byte) (length int, err error)) (string, error) {
	place := make([]byte, room)
	length, err := read(place)
	if err == nil && length >= len(place) {
		place = make([]byte, length+1)
		_, err = read(place)
	}
	if err != nil {
		return "", err
	}
	return textOf(place), nil
}

// first is a pointer to bytes for the library, nil for none.
func first(b []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.SliceData(b))
}

// firstOf is a pointer to the bytes of a text, which the library only reads.
func firstOf(s string) *C.uint8_t {
	return (*C.uint8_t)(unsafe.StringData(s))
}

// handle is memory of the library that is freed once, when no call uses it.
type handle struct {
	// Calls that use the memory hold it for reading.
	mu      sync.RWMutex
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	cleanup runtime.Cleanup
}

// set takes over memory of the library. If nobody closes the handle, the memory is freed after the last use.
func (h *handle) set(pointer unsafe.Pointer, free func(unsafe.Pointer)) {
	h.pointer, h.free = pointer, free
	h.cleanup = runtime.AddCleanup(h, free, pointer)
}

// use is the pointer, which stays valid until done is called, or ErrClosed. It does not wait: close alone locks for writing.
func (h *handle) use() (unsafe.Pointer, error) {
	if !h.mu.TryRLock() {
		return nil, ErrClosed
	}
	if h.pointer == nil {
		h.mu.RUnlock()
		return nil, ErrClosed
	}
	return h.pointer, nil
}

func (h *handle) done() {
	h.mu.RUnlock()
}

// run calls a function of the library with the pointer, which nobody frees meanwhile.
func (h *handle) run(call func(pointer unsafe.Pointer, fault *C.quorate_error)) error {
	pointer, err := h.use()
	if err != nil {
		return err
	}
	defer h.done()
	var fault C.quorate_error
	call(pointer, &fault)
	return failure(&fault)
}

// write is run of a function that writes so many bytes to a place.
func (h *handle) write(length int, call func(pointer unsafe.Pointer, place *C.uint8_t, size C.size_t, fault *C.quorate_error)) ([]byte, error) {
	written := make([]byte, length)
	err := h.run(func(pointer unsafe.Pointer, fault *C.quorate_error) {
		call(pointer, first(written), C.size_t(length), fault)
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// close waits for the calls that run and frees the memory. Calls that begin meanwhile are refused.
func (h *handle) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pointer == nil {
		return ErrClosed
	}
	h.cleanup.Stop()
	h.free(h.pointer)
	h.pointer = nil
	return nil
}
