#!/bin/sh
# Puts libquorate into the Go module, and tests the module.
#
#   bindings/go/build.sh FOLDER
#
# FOLDER is what scripts/c_library.sh has made.
set -eu

made=$(CDPATH='' cd -- "$1" && pwd)
cd "$(dirname -- "$0")"
system=$(go env GOOS)_$(go env GOARCH)
mkdir -p "lib/$system" include
cp "$made/lib/libquorate.a" "lib/$system/"
cp "$made/include/quorate.h" include/
# The licences of the crates that are linked in, which `make dist` has written.
rm -f LICENCES-OF-DEPENDENCIES.html
[ ! -e "$made/LICENCES-OF-DEPENDENCIES.html" ] || cp "$made/LICENCES-OF-DEPENDENCIES.html" .

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
go vet ./...
# Go does not see that a library of C has changed.
go test -race -count=1 ./...
