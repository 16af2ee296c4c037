#!/usr/bin/env bash
# Makes libquorate in a folder: lib/libquorate.a, lib/libquorate.so, include/quorate.h, files for pkg-config and CMake, and the licences.
#
#   scripts/c_library.sh FOLDER [PROFILE]
#
# The static library is one object that shows the names `quorate_*` alone. Otherwise a program that also links blst, or another
# library written in Rust, would have names twice, and the linker might take its blst for ours.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/needs_glibc.sh
. scripts/needs_glibc.sh
folder=$1 profile=${2:-dist}
built=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
abi=$(sed -n 's/^#define QUORATE_ABI //p' crates/quorate-c/include/quorate.h)

# `PROGRAMS=built` says that the library is built already, as `make test` leaves it.
[[ ${PROGRAMS:-} = built ]] || "${CARGO:-cargo}" build --locked --profile "$profile" -p quorate-c
mkdir -p "$folder/lib/pkgconfig" "$folder/lib/cmake/quorate" "$folder/include"
folder=$(cd "$folder" && pwd)

# Its name goes into the archive.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
object=$work/libquorate.o
# Everything that the functions need, and nothing else.
mapfile -t names < <(grep -o '^[a-z].*\bquorate_[a-z_]*(' crates/quorate-c/include/quorate.h | grep -v typedef | grep -o 'quorate_[a-z_]*(' | tr -d '(')
"${LD:-ld}" -r --gc-sections "${names[@]/#/--undefined=}" "$built/libquorate_c.a" -o "$object"
# The sections of bitcode are those of several objects behind one another, which archivers with a plugin of LLVM cannot read.
"${OBJCOPY:-objcopy}" --wildcard --keep-global-symbol='quorate_*' --strip-debug \
  --remove-section=.llvmbc --remove-section=.llvmcmd "$object"
rm -f "$folder/lib/libquorate.a"
"${AR:-ar}" rcsD "$folder/lib/libquorate.a" "$object"

cp "$built/libquorate_c.so" "$folder/lib/libquorate.so.$version"
ln -sf "libquorate.so.$version" "$folder/lib/libquorate.so.$abi"
ln -sf "libquorate.so.$abi" "$folder/lib/libquorate.so"
cp crates/quorate-c/include/quorate.h "$folder/include/"
cp LICENSE-APACHE LICENSE-MIT "$folder/"
# The licences of the crates that are linked in, which `make dist` has written.
rm -f "$folder/LICENCES-OF-DEPENDENCIES.html"
[[ ! -e ${LICENCES:-} ]] || cp "$LICENCES" "$folder/LICENCES-OF-DEPENDENCIES.html"

# Both find their folder from where they lie, so that it can be moved.
cat > "$folder/lib/pkgconfig/quorate.pc" << END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: quorate
Description: BLS signatures at network scale
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lquorate
Libs.private: -lpthread -ldl -lm -lgcc_s
END
cat > "$folder/lib/cmake/quorate/quorate-config.cmake" << END
# find_package(quorate): the targets quorate::quorate (shared) and quorate::static.
get_filename_component(quorate_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET quorate::quorate)
  add_library(quorate::quorate SHARED IMPORTED)
  set_target_properties(quorate::quorate PROPERTIES
    IMPORTED_LOCATION "\${quorate_prefix}/lib/libquorate.so"
    IMPORTED_SONAME "libquorate.so.$abi"
    INTERFACE_INCLUDE_DIRECTORIES "\${quorate_prefix}/include")
  add_library(quorate::static STATIC IMPORTED)
  set_target_properties(quorate::static PROPERTIES
    IMPORTED_LOCATION "\${quorate_prefix}/lib/libquorate.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${quorate_prefix}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s")
endif()
set(quorate_VERSION $version)
END
# RELEASING.md says which version may break the interface: before 1.0 a minor one, and then a major one.
series=${version%%.*} asked='${PACKAGE_FIND_VERSION_MAJOR}'
if [[ $series = 0 ]]; then
  series=$(cut -d . -f 1-2 <<< "$version") asked+='.${PACKAGE_FIND_VERSION_MINOR}'
fi
cat > "$folder/lib/cmake/quorate/quorate-config-version.cmake" << END
set(PACKAGE_VERSION $version)
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND "$asked" STREQUAL "$series")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
END
