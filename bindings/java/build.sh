#!/bin/sh
# Builds the native library and the jar, and tests them: build.sh [PROFILE]
#
# With PROGRAMS=built the library is built already. PROFILE is a profile of cargo, `release` without one. CARGO_TARGET_DIR is where cargo builds, and CARGO which cargo.
# MAVEN_ARGS are more arguments for Maven, such as -o.
set -eu

profile=${1:-release}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
built=${CARGO_TARGET_DIR:-$here/../../target}
case $built in /*) ;; *) built=$PWD/$built ;; esac
# shellcheck source=scripts/needs_glibc.sh
. "$here/../../scripts/needs_glibc.sh"

[ "${PROGRAMS:-}" = built ] || (cd "$here/../.." && CARGO_TARGET_DIR=$built "${CARGO:-cargo}" build --locked --profile "$profile" -p quorate-java-binding)

# Cargo's names of folders: `dev` builds into `debug`.
folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi

resources=$here/target/native-resources/io/quorate/native/linux-$(uname -m)
mkdir -p "$resources"
cp "$built/$folder/libquorate_java_binding.so" "$resources/"
# The licences of the crates that are linked in, which `make dist` has written. Maven leaves in target/classes what was once a resource.
rm -f "$here"/target/*/META-INF/LICENCES-OF-DEPENDENCIES.html
mkdir -p "$here/target/native-resources/META-INF"
[ ! -e "${LICENCES:-}" ] || cp "$LICENCES" "$here/target/native-resources/META-INF/LICENCES-OF-DEPENDENCIES.html"

cd "$here"
# shellcheck disable=SC2086 # several arguments
exec mvn -q -B ${MAVEN_ARGS:-} verify
