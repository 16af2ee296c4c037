package quorate

import "errors"

// ErrorCode is what kind of failure an [Error] is. The numbers are those of the C interface.
type ErrorCode int32

const (
	// CodeNull is a pointer that is null and must not be: a fault of this package.
	CodeNull ErrorCode = 1
	// CodeSuite is a suite that does not exist.
	CodeSuite ErrorCode = 2
	// CodeEncoding is bytes that are not a key, a signature or a secret.
	CodeEncoding ErrorCode = 3
	// CodeMisuse is something that is not allowed or not possible. The text says what, and what to do.
	CodeMisuse ErrorCode = 4
	// CodeTooSmall is memory that is too small for a result: a fault of this package.
	CodeTooSmall ErrorCode = 5
	// CodeSystem is an operating system without random numbers or without threads.
	CodeSystem ErrorCode = 6
	// CodeInternal is a fault of the library. Please report it.
	CodeInternal ErrorCode = 7
	// CodeClaims is a claim that cannot be handed over: an unknown kind, or the wrong number of messages for it.
	CodeClaims ErrorCode = 8
	// CodeHandle is a handle that was freed. The error of a claim that names a closed KeySet is [ErrClosed].
	CodeHandle ErrorCode = 9
)

// Error is why a call failed. It says nothing about the truth of claims. Compare it by [errors.Is] with [ErrSuite] and the others.
type Error struct {
	// Code is what kind of failure it is.
	Code ErrorCode
	// Text is what was found and what was expected.
	Text string
}

func (e *Error) Error() string {
	return "quorate: " + e.Text
}

// Is says whether target is the error of the same code, whatever its text is.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// The errors to compare with, by [errors.Is].
var (
	ErrSuite    error = &Error{CodeSuite, "there is no such suite"}
	ErrEncoding error = &Error{CodeEncoding, "the bytes are not a key, a signature or a secret"}
	ErrMisuse   error = &Error{CodeMisuse, "it is not allowed or not possible"}
	ErrSystem   error = &Error{CodeSystem, "the operating system has no random numbers or no threads"}
	ErrInternal error = &Error{CodeInternal, "internal error, please report it"}
	ErrClaims   error = &Error{CodeClaims, "the claims cannot be read"}
)

// ErrClosed is the error of every call on a value after its Close, and of a call with a claim that names a closed [KeySet]. Compare it by
// [errors.Is].
var ErrClosed = errors.New("quorate: the value is closed")
