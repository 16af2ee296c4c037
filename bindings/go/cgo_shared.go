//go:build quorate_shared

package quorate

// #cgo CFLAGS: -DQUORATE_GO_LINKED
// #cgo pkg-config: quorate
import "C"
