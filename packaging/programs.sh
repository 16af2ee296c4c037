#!/usr/bin/env bash
# The programs for one target as people get them, in FOLDER/quorate-VERSION-TARGET and as an archive beside it: bin, share and lib, as they
# lie below /usr.
#
#   packaging/programs.sh TARGET FOLDER
#
# They are linked with the C library itself, so that they start on any Linux and in an image that has nothing else, and with names.c, so
# that they load nothing there. Two builds of a commit give the same bytes, wherever they are made: the names of this machine's folders do
# not go into them.
source "$(dirname "$0")/common.sh"
target=$1 out=$2
needs programs "$target"
tree=$out/quorate-$version-$target
built=$(realpath -m "${CARGO_TARGET_DIR:-target}")

same_anywhere "$built" -Ctarget-feature=+crt-static "-Clink-arg=$built/$target/names.o"
compiler=cc strip=strip
case $target in aarch64-*)
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}
    compiler=aarch64-linux-gnu-gcc strip=aarch64-linux-gnu-strip ;;
esac
mkdir -p "$built/$target"
"$compiler" -O2 -c -o "$built/$target/names.o" packaging/names.c
# `PACKAGES` names some of them for a quick check.
packages=${PACKAGES:-${packages_of_programs[*]}}
# No program has a date in it; Cargo would compile C code, and all that needs it, anew for each commit.
env --unset SOURCE_DATE_EPOCH "${CARGO:-cargo}" build --locked --profile dist --target "$target" $(printf -- '--package %s ' $packages)

rm -rf "$tree"
mkdir -p "$tree/bin"
for program in "${programs[@]}"; do
    # Cargo's `strip` leaves the names in the command line's program.
    [[ ! -e $built/$target/dist/$program ]] || "$strip" --strip-all -o "$tree/bin/$program" "$built/$target/dist/$program"
done
# An emulator starts programs of other CPUs alone.
[[ $target != "$(uname -m)"-* ]] || unset EMULATOR
packaging/tree.sh "$tree"
pack "$tree"
