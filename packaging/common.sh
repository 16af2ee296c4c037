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

# pack FOLDER: FOLDER.tar.gz beside it.
pack() {
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        --directory "$(dirname "$1")" --create "$(basename "$1")" | gzip -9 --no-name > "$1.tar.gz"
}

# need PROGRAM PACKAGE: ends where it is not there.
need() {
    command -v "$1" > /dev/null || { echo "$1 is missing: apt-get install --no-install-recommends $2" >&2; exit 1; }
}
