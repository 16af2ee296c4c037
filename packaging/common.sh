# What the scripts of this folder share. They stand in the root of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
field() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml | head -n 1; }
# A test makes packages of another version with `VERSION`.
version=${VERSION:-$(field version)}
# Where releases are: the one place that everything published points at.
repository=$(field repository)
# Every date in what is made. The same commit gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
programs=(quorate quorate-server quorate-node quorate-signer quorate-chain)
# The packages of Cargo that have them.
packages_of_programs=(quorate-cli quorate-server quorate-node quorate-signer quorate-chain-program)

# pack FOLDER: FOLDER.tar.gz beside it.
pack() {
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$(dirname "$1")" --create "$(basename "$1")" | gzip -9 --no-name > "$1.tar.gz"
}

# same_anywhere BUILT [FLAG…]: from here on, what Cargo makes in BUILT has no name of a folder of this machine, and rustc gets these flags.
same_anywhere() {
    local renamed=("$PWD=/quorate" "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$1=/target") flags
    flags=("${@:2}" "${renamed[@]/#/--remap-path-prefix=}")
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
    export CARGO_ENCODED_RUSTFLAGS CARGO_INCREMENTAL=0 CFLAGS="${renamed[*]/#/-ffile-prefix-map=}"
    unset RUSTFLAGS
}

# need PROGRAM PACKAGE: ends where it is not there. In place of the program, a path of the package may be named.
need() {
    [[ $1 = /* && -e $1 ]] || command -v "$1" > /dev/null || { echo "$1 is missing: apt-get install --no-install-recommends $2" >&2; exit 1; }
}

# need_from VERSION PROGRAM FLAG: ends where it is not there, or where it says with the flag that it is older.
need_from() {
    local found
    found=$(command -v "$2" > /dev/null && "$2" "$3" 2>&1 | grep -o -m 1 '[0-9][0-9.]*' | head -n 1) || true
    printf '%s\n' "$1" "${found:-0}" | sort --check=quiet --version-sort ||
        { echo "$2: expected version $1 or later, found ${found:-none}" >&2; exit 1; }
}

# Debian's list of authorities of TLS.
authorities=/usr/share/ca-certificates/mozilla

# needs PART TARGET: ends where something is missing that this part of a release (PARTS of `packaging/dist.sh`) is made with.
needs() {
    local probe python=${PYTHON:-python3}
    case $1 in
    programs)
        [[ $2 = aarch64-* ]] || return 0
        need aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
        # Each program writes its own man pages, so it has to run here.
        probe=$(mktemp)
        aarch64-linux-gnu-gcc -static -x c -o "$probe" - <<< 'int main(void) { return 0; }'
        ${EMULATOR:-} "$probe" || { echo "programs for ARM do not run here: apt-get install --no-install-recommends binfmt-support qemu-user-static (and EMULATOR=qemu-aarch64-static where the kernel has no binfmt_misc)" >&2; exit 1; }
        rm "$probe" ;;
    debs) need dh debhelper ;;
    images)
        need buildah "buildah crun"
        need "$authorities" ca-certificates
        need jq jq ;;
    libraries)
        need cmake cmake
        need pkg-config pkg-config
        need valgrind valgrind
        need_from 1.24 go version
        need_from 20 node --version
        need npm npm
        need_from 17 javac -version
        need mvn maven
        need_from 3.11 "$python" --version
        "$python" -c 'import ensurepip' 2> /dev/null || { echo "$python has no ensurepip: apt-get install --no-install-recommends python3-venv" >&2; exit 1; } ;;
    source | bill) ;;
    *) echo "PARTS: $1 is not a part of a release" >&2; exit 1 ;;
    esac
}
