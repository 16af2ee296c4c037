//go:build !cgo

package quorate

// The package calls a C library. Without cgo the build ends here, with this name in the message: set CGO_ENABLED=1 and install a C
// compiler.
var _ = quorate_needs_cgo_so_set_CGO_ENABLED_to_1_and_install_a_C_compiler
