//go:build !quorate_shared

package quorate

// #cgo CFLAGS: -DQUORATE_GO_LINKED -I${SRCDIR}/include
// #cgo LDFLAGS: ${SRCDIR}/lib/linux_arm64/libquorate.a -lpthread -ldl -lm -lgcc_s
import "C"
