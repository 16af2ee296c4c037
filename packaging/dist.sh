#!/usr/bin/env bash
# Everything that a release publishes (docs/install.md has the list), with the SHA-256 of each file of FOLDER in SHA256SUMS. Wheels and the
# packages for Go, Node and Java stay where `make` puts them.
#
#   packaging/dist.sh FOLDER
#
# TARGETS names the targets; by default those that the toolchain has a standard library for, of x86-64 and aarch64.
# PARTS names what is made: programs debs images source libraries bill (of materials); by default all. The archives of programs hold the
# licences that `bill` writes: without it they are other bytes than those of a release.
source "$(dirname "$0")/common.sh"
mkdir -p "$1"
out=$(realpath "$1")
parts=${PARTS:-programs debs images source libraries bill}
wanted() { [[ " $parts " = *" $1 "* ]]; }
architecture() { case $1 in x86_64-*) echo amd64 ;; aarch64-*) echo arm64 ;; *) echo "$1: no architecture of Debian" >&2; exit 1 ;; esac; }

if [[ -z ${TARGETS:-} ]]; then
    for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
        if [[ -d $(rustc --print sysroot)/lib/rustlib/$target/lib ]]; then TARGETS+=" $target"
        else echo "dist: $target is skipped, because the toolchain has no library for it (rustup target add $target)" >&2; fi
    done
fi
# It takes half an hour, so what is missing is said now.
for part in $parts; do for target in $TARGETS; do needs "$part" "$target"; done; done

tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools
# tool NAME VERSION [FLAG…]: where this version of it is, and no other one that was installed before.
tool() {
    local root=$tools/$1-$2
    [[ -x $root/bin/$1 ]] || "${CARGO:-cargo}" install --quiet --locked --root "$root" "$1" --version "${@:2}" >&2 || return
    echo "$root/bin/$1"
}
if wanted bill; then
    about=$(tool cargo-about 0.9.3 --features cli)
    cyclonedx=$(tool cargo-cyclonedx 0.5.9)
    export LICENCES=$out/quorate-$version-licences.html
    "$about" generate --config packaging/licences.toml --locked --workspace --fail packaging/licences.hbs --output-file "$LICENCES"
    for program in quorate-cli quorate-server quorate-node quorate-signer quorate-chain; do
        "$cyclonedx" cyclonedx --quiet --format json --manifest-path "apps/$program/Cargo.toml" --override-filename bill
        # Without the name of this machine's folder.
        sed "s|file://$PWD/|file:///quorate/|g" "apps/$program/bill.json" > "$out/$program-$version.cdx.json"
        # Every member of the workspace has got one.
        git ls-files --others --exclude-standard '*/bill.json' | xargs --no-run-if-empty rm
    done
fi
for target in $TARGETS; do
    tree=$out/quorate-$version-$target
    ! wanted programs || packaging/programs.sh "$target" "$out"
    ! wanted debs || packaging/debs.sh "$tree" "$(architecture "$target")" "$out"
    ! wanted images || packaging/images.sh "$tree" "$(architecture "$target")" "$out"
done
if wanted source; then
    git archive --format=tar --prefix="quorate-$version/" HEAD | gzip -9 --no-name > "$out/quorate-$version-source.tar.gz"
fi
if wanted libraries; then
    make c PROFILE=dist
    rm -rf "$out/libquorate-$version-$(uname -m)"
    cp -r "${CARGO_TARGET_DIR:-target}/c" "$out/libquorate-$version-$(uname -m)"
    pack "$out/libquorate-$version-$(uname -m)"
    make go node java wheels PROFILE=dist TARGETS="$TARGETS"
fi

# The script and the formula name the sums of what they download.
sum() { sha256sum "$1" | cut -d ' ' -f 1; }
releases=$repository/releases/download/v$version
for target in $TARGETS; do
    archive=$out/quorate-$version-$target.tar.gz
    [[ -e $archive ]] || continue
    cpu=${target%%-*} other=${target%%-*}
    # What `uname -m` and Homebrew call it.
    case $cpu in x86_64) other=intel ;; aarch64) other=arm cpu='aarch64 | arm64' ;; esac
    script+="    $cpu) target=$target sum=$(sum "$archive") ;;"$'\n'
    formula+="    on_$other do"$'\n'"      url \"$releases/${archive##*/}\""$'\n'"      sha256 \"$(sum "$archive")\""$'\n'"    end"$'\n'
done
if [[ -n ${script:-} && -e $out/quorate-$version-source.tar.gz ]]; then
    for made in install.sh quorate.rb; do
        text=$(cat "packaging/$made.in")
        [[ $made = install.sh ]] && sums=$script || sums=$formula
        text=${text//@SUMS@/${sums%$'\n'}}
        text=${text//@SOURCE_SUM@/$(sum "$out/quorate-$version-source.tar.gz")}
        text=${text//@RELEASES@/$releases}
        text=${text//@REPOSITORY@/$repository}
        printf '%s\n' "${text//@VERSION@/$version}" > "$out/$made"
    done
fi
cd "$out"
find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS
ls -l --block-size=K --time-style=+ | awk 'NR > 1 { print $5, $6 }'
