#!/usr/bin/env bash
# Builds what a release has of the last commit twice, in two folders with two folders of built files, and compares it byte for byte.
#
#   packaging/tests/reproducible.sh [PACKAGE…]
#   packaging/tests/reproducible.sh --with FOLDER
#
# A PACKAGE is that of a program, or quorate-c, quorate-node-binding or quorate-java-binding; by default quorate-signer, the program that holds
# keys. With FOLDER, which `packaging/dist.sh` made of the same commit, all of them are built once, and compared with what it has.
source "$(dirname "$0")/../common.sh"
libraries=(quorate-c quorate-node-binding quorate-java-binding)
published=
case ${1:-} in
--with) published=$(realpath "$2"); set -- "${packages_of_programs[@]}" "${libraries[@]}" ;;
'') set -- quorate-signer ;;
esac
asked=() linked=()
for package in "$@"; do
    if [[ " ${libraries[*]} " = *" $package "* ]]; then linked+=("$package"); else asked+=("$package"); fi
done
target=$(rustc -vV | sed -n 's/^host: //p')
archive=quorate-$version-$target library=libquorate-$version-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# built FOLDER: a clone there, and beside it FOLDER.out with what is compared.
built() {
    local out=$work/$1.out package
    export CARGO_TARGET_DIR=$work/$1.built
    git clone --quiet --no-local . "$work/$1"
    mkdir -p "$out"
    cd "$work/$1"
    [[ -z ${asked[*]} ]] || PACKAGES=${asked[*]} packaging/programs.sh "$target" "$out"
    same_anywhere "$CARGO_TARGET_DIR"
    for package in "${linked[@]}"; do
        case $package in
        quorate-c) scripts/c_library.sh "$out/$library" dist && pack "$out/$library" ;;
        *) "${CARGO:-cargo}" build --locked --profile dist --package "$package" && cp "$CARGO_TARGET_DIR/dist/lib${package//-/_}.so" "$out" ;;
        esac
    done
    rm -rf "$CARGO_TARGET_DIR"
}
# released: the same from the folder that `packaging/dist.sh` made.
released() {
    local out=$work/first.out node=x64
    [[ $(uname -m) = x86_64 ]] || node=arm64
    mkdir -p "$out"
    cp "$published/$archive.tar.gz" "$published/$library.tar.gz" "$out"
    tar -xzOf "$published/quorate-$version-npm.tgz" "package/quorate.linux-$node-gnu.node" > "$out/libquorate_node_binding.so"
    "${PYTHON:-python3}" -m zipfile --extract "$published/quorate-$version.jar" "$work/jar"
    cp "$work/jar/io/quorate/native/linux-$(uname -m)/libquorate_java_binding.so" "$out"
}
if [[ -n $published ]]; then
    export LICENCES=$published/quorate-$version-licences.html
    released
else
    (built first)
fi
(built a/second/one)
compared=0
for path in "$work/a/second/one.out"/*; do
    [[ -f $path ]] || continue
    cmp "$work/first.out/${path##*/}" "$path" || {
        # What tells them apart is mostly a name of a folder.
        find "$work"/a/second/one.out -type f -exec strings {} + | grep -m 5 -e "$work" -e "$HOME" || true
        exit 1
    }
    echo "the same bytes twice: $(cd "${path%/*}" && sha256sum "${path##*/}")"
    compared=$((compared + 1))
done
((compared == ${#linked[@]} + (${#asked[@]} > 0))) || { echo "reproducible.sh: $compared files were compared" >&2; exit 1; }
