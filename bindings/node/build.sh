#!/bin/sh
# Builds the native library, installs what the tests need, and tests the package.
#
#   bindings/node/build.sh [PROFILE]
#
# PROFILE is a profile of Cargo: `release` by default, or `dist`, which optimises more. CARGO_TARGET_DIR is honoured. With PROGRAMS=built
# the library is built already.
set -eu

profile=${1:-release}
package=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
repository=$(CDPATH= cd -- "$package/../.." && pwd)
target=${CARGO_TARGET_DIR:-$repository/target}
case $profile in
dev) folder=debug ;;
*) folder=$profile ;;
esac

case $(uname -m) in
x86_64) arch=x64 ;;
aarch64 | arm64) arch=arm64 ;;
*)
    echo "The package is not built for $(uname -m): it runs on x86_64 and aarch64" >&2
    exit 1
    ;;
esac

cd "$repository"
# shellcheck source=scripts/needs_glibc.sh
. scripts/needs_glibc.sh
[ "${PROGRAMS:-}" = built ] || "${CARGO:-cargo}" build --locked --profile "$profile" -p quorate-node-binding
# Cargo's names of folders: `dev` builds into `debug`.
folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi

# Through a new file: a program that has the old library loaded keeps it.
built=$package/quorate.linux-$arch-gnu.node
cp "$target/$folder/libquorate_node_binding.so" "$built.new"
mv "$built.new" "$built"
# The licences of the crates that are linked in, which `make dist` has written.
rm -f "$package/LICENCES-OF-DEPENDENCIES.html"
[ ! -e "${LICENCES:-}" ] || cp "$LICENCES" "$package/LICENCES-OF-DEPENDENCIES.html"

cd "$package"
npm ci --loglevel=error
npm test
