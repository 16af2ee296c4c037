#!/bin/sh
# Puts libquorate into the Go module, and tests the module.
#
#   bindings/go/build.sh FOLDER
#
# FOLDER is what scripts/c_library.sh has made. With GO_FUZZ_SECONDS, each fuzz target then runs for so long.
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
if [ -n "${GO_FUZZ_SECONDS:-}" ]; then
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' fuzz_test.go); do
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${GO_FUZZ_SECONDS}s" .
  done
fi
