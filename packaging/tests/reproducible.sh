#!/usr/bin/env bash
# Builds programs of the last commit twice, in two folders with two folders of built files, and compares the archives byte for byte.
#
#   packaging/tests/reproducible.sh [PACKAGE…]          by default quorate-signer, the program that holds keys
source "$(dirname "$0")/../common.sh"
export PACKAGES=${*:-quorate-signer}
target=$(rustc -vV | sed -n 's/^host: //p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in first a/second/one; do
    git clone --quiet --no-local . "$work/$folder"
    (cd "$work/$folder" && CARGO_TARGET_DIR=$work/$folder.built packaging/programs.sh "$target" "$work/$folder.out")
    rm -rf "$work/$folder.built"
done
archive=quorate-$version-$target.tar.gz
cmp "$work/first.out/$archive" "$work/a/second/one.out/$archive" || {
    for path in "$work/first.out/${archive%.tar.gz}"/bin/*; do
        cmp "$path" "$work/a/second/one.out/${archive%.tar.gz}/bin/${path##*/}" || strings "$path" | grep -m 5 -e "$work" -e "$HOME" || true
    done
    exit 1
}
echo "two builds of $PACKAGES are the same: $(sha256sum "$work/first.out/$archive" | cut -d ' ' -f 1)"
