#!/usr/bin/env bash
# Everything that a release publishes (docs/install.md has the list), with the SHA-256 of each file of FOLDER in SHA256SUMS.
#
#   packaging/dist.sh FOLDER
#
# TARGETS names the targets; by default those that the toolchain has a standard library for, of x86-64 and aarch64.
# PARTS names what is made: programs debs images source libraries bill (of materials); by default all. What has programs or libraries in it
# holds the licences that `bill` writes: without it they are other bytes than those of a release.
# OTHER is such a FOLDER of the same commit from a machine with the other CPU: the packages for Go, Node and Java get their native libraries
# from there as well, because one package is for both.
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
# The same things as below: a bill for each.
declare -A bills=([libquorate]=crates/quorate-c [quorate-npm]=bindings/node [quorate-java]=bindings/java/native
    [quorate-python]=crates/quorate-python [quorate-cli]=apps/quorate-cli)
for program in "${programs[@]:1}"; do bills[$program]=apps/$program; done
if wanted bill; then
    about=$(tool cargo-about 0.9.3 --features cli)
    cyclonedx=$(tool cargo-cyclonedx 0.5.9)
    export LICENCES=$out/quorate-$version-licences.html
    "$about" generate --config packaging/licences.toml --locked --workspace --fail packaging/licences.hbs --output-file "$LICENCES"
    for name in "${!bills[@]}"; do
        "$cyclonedx" cyclonedx --quiet --format json --manifest-path "${bills[$name]}/Cargo.toml" --override-filename bill
        # Without the name of this machine's folder.
        sed "s|file://$PWD/|file:///quorate/|g" "${bills[$name]}/bill.json" > "$out/$name-$version.cdx.json"
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
    built=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    # Nothing of another version, or of another CPU, but what is from OTHER.
    rm -rf bindings/node/*.node bindings/go/lib bindings/java/target "$built/wheels" "$built/c"
    if [[ -n ${OTHER:-} ]]; then
        tar --extract --gzip --file "$OTHER/quorate-$version-npm.tgz" --directory bindings/node --strip-components 1 --wildcards '*.node'
        tar --extract --gzip --file "$OTHER/quorate-$version-go.tar.gz" --directory bindings/go --strip-components 1 --wildcards '*/lib/*.a'
        mkdir -p bindings/java/target/native-resources
        (jar=$(realpath "$OTHER/quorate-$version.jar") && cd bindings/java/target/native-resources && jar --extract --file "$jar" io/quorate/native)
    fi
    same_anywhere "$built"
    make c go node java wheels PROFILE=dist TARGETS="$TARGETS"
    cp -r "$built/c" "$out/libquorate-$version-$(uname -m)"
    # What git ignores of the Go module is what it is linked with.
    mkdir "$out/quorate-$version-go"
    (cd bindings/go && { git ls-files && git ls-files --others --ignored --exclude-standard; } | grep -v '^\.' |
        tar --create --files-from -) | tar --extract --directory "$out/quorate-$version-go"
    for folder in "libquorate-$version-$(uname -m)" "quorate-$version-go"; do
        pack "$out/$folder"
        rm -r "${out:?}/$folder"
    done
    (cd bindings/node && npm pack --silent --pack-destination "$out")
    mv "$out/quorate-$version.tgz" "$out/quorate-$version-npm.tgz"
    # The jar that was tested, and what Maven Central wants beside it.
    mvn -q -B ${MAVEN_ARGS:-} --file bindings/java/pom.xml -P release -DskipTests package
    cp bindings/java/target/quorate-"$version"{,-sources,-javadoc}.jar "$out"
    cp bindings/java/pom.xml "$out/quorate-$version.pom"
    cp "$built"/wheels/*.whl "$out"
    for package in npm go; do
        # `x64 arm64` in the one, and `linux_amd64 linux_arm64` in the other.
        (($(tar -tzf "$out"/quorate-"$version-$package".t*gz | grep -c -e '\.node$' -e '\.a$') == 2)) ||
            echo "dist: quorate-$version-$package is for $(uname -m) alone (OTHER=FOLDER of a machine with the other CPU)" >&2
    done
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
