#!/usr/bin/env bash
# The install script of `make dist` installs from a folder and from a server, by curl and by wget, and starts what it installed. It refuses an
# archive with one byte changed or with its end missing, another CPU or system, and a folder that it cannot write or that is too small, and leaves
# nothing there; where busybox is installed, also with the tools of busybox alone. A script that was cut off does nothing. Homebrew's formula and
# `cargo binstall` name archives that are there, and programs in them.
#
#   packaging/tests/install_script.sh FOLDER
source "$(dirname "$0")/../common.sh"
folder=$(realpath "$1")
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
fail() { echo "install.sh: $*" >&2; exit 1; }
need jq jq
need curl curl
need openssl openssl
need python3 python3
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

# ---- What it says, and that it leaves nothing ----
# tools FOLDER NAME…: these programs alone, and those that every system has.
tools() {
    local folder=$1 tool; shift
    mkdir "$folder"
    for tool in sh uname mktemp rm cp mv mkdir dirname tar gzip sha256sum "$@"; do ln -s "$(command -v "$tool")" "$folder/"; done
}
# refuses WORDS RELEASES INTO PATH [COMMAND…]: with the programs of this PATH, and by this command, it ends with these words on standard error.
refuses() {
    local words=$1 releases=$2 into=$3 path=$4 code=0; shift 4
    "$@" env -i HOME="$work" PATH="$path" CURL_CA_BUNDLE="$work/authority.pem" WGETRC="$work/wgetrc" QUORATE_RELEASES="$releases" \
        sh "$folder/install.sh" "$into" > "$work/said" 2>&1 || code=$?
    ((code == 1)) || fail "it ended with $code, and not because: $words: $(cat "$work/said")"
    grep -q -F -- "$words" "$work/said" || fail "it does not say: $words, but: $(cat "$work/said")"
    ! grep "^LEFT: " "$work/said" && [[ -z $(ls -A "$into" 2> /dev/null) ]] || fail "it left something: $words"
}
refuses "not the one that this script was made for" "$work/other" "$work/two" "$PATH"
refuses "has no quorate-$version-" "$work" "$work/two" "$PATH"
[[ ! -e $work/two ]] || fail "it made a folder for nothing"
# Another CPU, and another system.
mkdir "$work/riscv64" "$work/Darwin"
printf '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n' > "$work/riscv64/uname"
printf '#!/bin/sh\n[ "$1" = -s ] && echo Darwin || echo arm64\n' > "$work/Darwin/uname"
chmod +x "$work"/{riscv64,Darwin}/uname
refuses "There are no programs for riscv64. From source:" "$folder" "$work/two" "$work/riscv64:$PATH"
refuses "There are programs for Linux only. From source:" "$folder" "$work/two" "$work/Darwin:$PATH"
# A file in the place of the folder.
touch "$work/file"
refuses "The folder $work/file/below cannot be written" "$folder" "$work/file/below" "$PATH"
# A folder that nobody may write, and one with less room than the programs need. Root alone may make them.
if [[ $(id -u) = 0 ]]; then
    mkdir "$work/mounted"
    # mounted OPTION COMMAND…: in which this is such a folder, and what programs the command leaves there.
    mounted() {
        unshare --mount sh -c 'mount -t tmpfs -o "$1" none "$0" && shift || exit 9
            "$@"; code=$?; find "$0" -path "$0/bin/*" | sed "s/^/LEFT: /"; exit $code' "$work/mounted" "$@"
    }
    refuses "The folder $work/mounted cannot be written" "$folder" "$work/mounted" "$PATH" mounted ro
    refuses "Not everything could be written to $work/mounted" "$folder" "$work/mounted" "$PATH" mounted size=3m
else
    echo "install.sh: not tried with a folder that nobody may write, nor with a full disk, which root alone can make"
fi

# ---- From a server, as a stranger does ----
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$work/server.key" -out "$work/authority.pem" 2> /dev/null
printf 'ca_certificate = %s\ntries = 1\n' "$work/authority.pem" > "$work/wgetrc"
# Below /whole are the files of the folder; below /cut is half of each, though its length is said to be the whole.
python3 - "$folder" "$work" << 'PYTHON' &
import http.server, os, ssl, sys

folder, work = sys.argv[1:]


class Releases(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.answer(lambda whole, how: b"")

    def do_GET(self):
        self.answer(lambda whole, how: whole[: len(whole) // 2] if how == "cut" else whole)

    def answer(self, part):
        _, how, name = self.path.split("/")
        path = os.path.join(folder, name)
        if how not in ("whole", "cut") or not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            whole = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        self.wfile.write(part(whole, how))
        self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Releases)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(work, "authority.pem"), os.path.join(work, "server.key"))
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(work, "port.new"), "w") as file:
    file.write(str(server.server_port))
os.rename(os.path.join(work, "port.new"), os.path.join(work, "port"))
server.serve_forever()
PYTHON
server=$!
for _ in $(seq 600); do [[ ! -e $work/port ]] || break; sleep 0.1; done
url=https://127.0.0.1:$(cat "$work/port")
for loader in curl wget; do
    if ! command -v "$loader" > /dev/null; then echo "install.sh: not tried with $loader, which is not installed"; continue; fi
    tools "$work/$loader" "$loader"
    env -i HOME="$work" PATH="$work/$loader" CURL_CA_BUNDLE="$work/authority.pem" WGETRC="$work/wgetrc" QUORATE_RELEASES="$url/whole" \
        sh "$folder/install.sh" "$work/by-$loader" > "$work/said" 2>&1 || fail "not by $loader: $(cat "$work/said")"
    cmp "$work/by-$loader/bin/quorate" "$work/one/bin/quorate" || fail "$loader got another program"
    refuses "could not be downloaded as a whole" "$url/missing" "$work/two" "$work/$loader"
    refuses "could not be downloaded as a whole" "$url/cut" "$work/two" "$work/$loader"
done
tools "$work/neither"
refuses "There is neither curl nor wget" "$url/whole" "$work/two" "$work/neither"
# Half of an archive that came as if it were the whole.
head -c 100000 "$archive" > "$work/half" && mv "$work/half" "$archive"
refuses "not the one that this script was made for" "$work/other" "$work/two" "$PATH"

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
