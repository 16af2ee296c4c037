#!/usr/bin/env bash
# Builds other libraries from their package registries, each as a program that `quorate-bench peers` asks, and writes the list of
# them: `build.sh FOLDER` writes FOLDER/list. A library whose tool is missing, or that does not build, is left out with the reason.
# CONSTANTINE names a folder with the sources of Constantine, which is in no registry, and NIM the command of a Nim that is not in PATH.
# PEER='NAME=COMMAND; NAME=COMMAND' adds programs of yours, which speak the same protocol (src/peers/program.rs).
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
start=$PWD
cd "$(dirname "$0")"
here=$PWD
: > "$folder/list.new"

quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g')"; }

# built NAME WORD...: the command of a program.
built() {
    local name=$1 words
    shift
    words=$(for word in "$@"; do quoted "$word"; printf ,; done)
    printf '{"name": %s, "command": [%s]}\n' "$(quoted "$name")" "${words%,}" >> "$folder/list.new"
    echo "$name: built"
}

# left_out REASON NAME...
left_out() {
    local why=$1
    shift
    for name in "$@"; do
        printf '{"name": %s, "left_out": %s}\n' "$(quoted "$name")" "$(quoted "$why")" >> "$folder/list.new"
        echo "$name: LEFT OUT: $why"
    done
}

# try NAME COMMAND...: runs it, with what it says in a file.
try() {
    local name=$1
    shift
    "$@" > "$folder/$name.log" 2>&1
}

has() { command -v "$1" > /dev/null; }

rust() {
    try "$1" env CARGO_TARGET_DIR="$folder/rust" "${CARGO:-cargo}" build --release --locked --manifest-path "$here/rust/Cargo.toml" "${@:2}"
}

for name in arkworks commonware zkcrypto; do
    if rust "$name" --bin "$name"; then
        built "$name" "$folder/rust/release/$name"
    else
        left_out "it did not build: see $folder/$name.log" "$name"
    fi
done

if ! has cmake || ! has c++; then
    left_out "there is no CMake or no compiler of C++, which mcl is built with: install both (Debian: cmake, g++)" mcl
elif rust mcl --features mcl --bin mcl; then
    built mcl "$folder/rust/release/mcl"
else
    left_out "it did not build: see $folder/mcl.log" mcl
fi

# It says which Go it needs, and Go fetches no other Go.
if ! has go; then
    left_out "there is no Go: install the version that $here/go/go.mod names, or a later one" gnark-crypto
elif try gnark-crypto env GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -C go -o "$folder/gnark-crypto" .; then
    built gnark-crypto "$folder/gnark-crypto"
else
    left_out "it did not build: see $folder/gnark-crypto.log" gnark-crypto
fi

javascript=(noble chainsafe-blst herumi-bls)
if ! has npm || ! has node; then
    left_out "there is no npm: install Node.js 20 or later" "${javascript[@]}"
elif (cd npm && try npm npm ci --loglevel=error); then
    for name in "${javascript[@]}"; do built "$name" node "$here/npm/$name.mjs"; done
else
    left_out "its packages cannot be installed: see $folder/npm.log" "${javascript[@]}"
fi

# From a clone: Nim's packages are repositories of git. The flags are those of its own release.
read -r -a nim <<< "${NIM:-nim}"
constantine() {
    local clang=()
    ! has clang || clang=(--cc:clang)
    try constantine "${nim[@]}" c "${clang[@]}" --skipUserCfg --skipParentCfg --path:"$1" -d:danger --panics:on -d:noSignalHandler \
        --mm:arc -d:useMalloc --threads:off --passC:-fno-semantic-interposition --passC:-falign-functions=64 --passC:-fmerge-all-constants \
        --warnings:off --nimcache:"$folder/constantine-cache" -o:"$folder/constantine" nim/constantine.nim
}

sources=
if [ -n "${CONSTANTINE:-}" ]; then
    sources=$(cd "$start" && cd "$CONSTANTINE" 2> /dev/null && pwd) || sources=
fi
if [ -z "${CONSTANTINE:-}" ]; then
    left_out "it is in no registry: clone mratsim/constantine from GitHub, and name the folder by CONSTANTINE" constantine
elif ! [ -f "$sources/constantine/ethereum_bls_signatures.nim" ]; then
    left_out "there are no sources of Constantine in $CONSTANTINE: name a clone of mratsim/constantine by CONSTANTINE" constantine
elif ! has "${nim[0]}" || ! printf '%s\n' 2.2 "$("${nim[@]}" --version | sed -n '1s/.*Version \([0-9.]*\).*/\1/p')" | sort -VC; then
    left_out "there is no Nim 2.2 or later, which it is written in: install it, or name its command by NIM" constantine
elif constantine "$sources"; then
    built constantine "$folder/constantine"
else
    left_out "it did not build: see $folder/constantine.log" constantine
fi

# Commands of yours are run where this was started.
cd "$start"
while IFS= read -r -d ';' peer; do
    read -r -a words <<< "${peer#*=}"
    read -r name <<< "${peer%%=*}"
    [ -n "$name" ] || continue
    if [[ $peer != *=* || ${#words[@]} == 0 ]]; then
        echo "PEER has \`$name\`, which is not NAME=COMMAND" >&2
        exit 2
    elif has "${words[0]}"; then
        built "$name" "${words[@]}"
    else
        left_out "there is no program ${words[0]}: build it, and name it in PEER" "$name"
    fi
done <<< "${PEER:-};"

mv "$folder/list.new" "$folder/list"
