#!/usr/bin/env bash
# The install script of `make dist` installs from a folder, starts what it installed, and refuses an archive with one byte changed; where
# busybox is installed, also with the tools of busybox alone. A script that was cut off does nothing. Homebrew's formula and `cargo binstall`
# name archives that are there, and programs in them.
#
#   packaging/tests/install_script.sh FOLDER
source "$(dirname "$0")/../common.sh"
folder=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install.sh: $*" >&2; exit 1; }
need jq jq
(cd "$folder" && sha256sum --check --quiet SHA256SUMS) || fail "SHA256SUMS names other files"
QUORATE_RELEASES=$folder sh "$folder/install.sh" "$work/one" > "$work/said"
grep -q "export PATH" "$work/said" || fail "it does not say that the folder is not in PATH"
"$work/one/bin/quorate" verify --quiet examples/claims.jsonl > /dev/null || fail "what is installed does not verify"
# Once more over it, while a program runs.
"$work/one/bin/quorate-server" --listen 127.0.0.1:0 2> /dev/null &
running=$!
QUORATE_RELEASES=$folder sh "$folder/install.sh" "$work/one" > /dev/null || fail "not over a program that runs"
kill "$running" && wait "$running" || fail "the program that ran was disturbed"
cp -r "$folder" "$work/other"
archive=$(echo "$work/other"/quorate-"$version"-"$(uname -m)"-*.tar.gz)
printf x | dd of="$archive" bs=1 seek=1000 conv=notrunc status=none
! QUORATE_RELEASES=$work/other sh "$folder/install.sh" "$work/two" > /dev/null 2>&1 || fail "it installed a changed archive"
[[ ! -e $work/two ]] || fail "it left something of a changed archive"
# Cut off anywhere, it does not install.
for length in 500 1000 1500 "$(($(stat -c %s "$folder/install.sh") - 10))"; do
    head -c "$length" "$folder/install.sh" > "$work/cut.sh"
    QUORATE_RELEASES=$folder sh "$work/cut.sh" "$work/cut" > /dev/null 2>&1 || true
    [[ ! -e $work/cut ]] || fail "it installed something after $length bytes"
done
if busybox=$(command -v busybox); then
    mkdir "$work/tools"
    for tool in $("$busybox" --list); do ln -sf "$busybox" "$work/tools/$tool"; done
    small() { env -i HOME="$work" PATH="$work/tools" QUORATE_RELEASES="$1" "$work/tools/sh" "$folder/install.sh" "$2"; }
    small "$folder" "$work/small" > /dev/null || fail "not with the tools of busybox"
    "$work/small/bin/quorate" --version > /dev/null || fail "what is installed with the tools of busybox does not run"
    ! small "$work/other" "$work/three" > /dev/null 2>&1 && [[ ! -e $work/three ]] || fail "busybox installed a changed archive"
else
    echo "install.sh: not tried with the tools of busybox, which is not installed"
fi

# What Homebrew downloads, with the sum that the formula names, and its own test.
formula=$folder/quorate.rb
if command -v ruby > /dev/null; then ruby -c "$formula" > /dev/null || fail "Ruby does not understand $formula"
else echo "quorate.rb: not read by Ruby, which is not installed"; fi
named=$(sed -n 's|^ *url ".*/download/v'"$version"'/\(.*\)"$|\1|p' "$formula")
sums=$(sed -n 's|^ *sha256 "\(.*\)"$|\1|p' "$formula")
(($(wc -w <<< "$named") >= 2)) || fail "$formula names too few archives: $named"
paste -d ' ' <(echo "$sums") <(sed 's/^/ /' <<< "$named") | (cd "$folder" && sha256sum --check --quiet) || fail "$formula names other archives"
"$work/one/bin/quorate" selftest 2> /dev/null | grep "ok " > /dev/null || fail "the formula's own test would fail"

# What `cargo binstall` downloads for this CPU, beside glibc and musl, and the program that it looks for there.
found=0
while IFS=$'\t' read -r url path; do
    [[ $url = "$repository/releases/download/v$version/"* ]] || fail "cargo binstall would ask for $url"
    tar -tzf "$folder/${url##*/}" | grep -x -F -- "$path" > /dev/null || fail "cargo binstall would find no $path in ${url##*/}"
    found=$((found + 1))
done < <("${CARGO:-cargo}" metadata --format-version 1 --no-deps --locked | jq --raw-output --arg cpu "$(uname -m)" '
    .packages[] | select(.metadata.binstall? and .publish != []) | . as {$version, $repository}
    | .metadata.binstall as $all | (.targets[] | select(.kind == ["bin"]).name) as $bin
    | ($cpu + ("-unknown-linux-gnu", "-unknown-linux-musl")) as $target | $all + ($all.overrides[$target] // {})
    | [."pkg-url", ."bin-dir"]
    | map(gsub("{ repo }"; $repository) | gsub("{ version }"; $version) | gsub("{ target }"; $target) | gsub("{ bin }"; $bin)) | @tsv')
((found == 2 * ${#programs[@]})) || fail "cargo binstall was tried $found times"
echo "install.sh installs, and refuses a changed archive; the formula and cargo binstall name what is there"
