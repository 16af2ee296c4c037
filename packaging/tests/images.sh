#!/usr/bin/env bash
# Runs the images as containers, with the mounts that the documents say: the server, and the signer beside the node. It needs root, crun and
# umoci, and no daemon.
#
#   packaging/tests/images.sh FOLDER        where FOLDER has the archives that `packaging/images.sh` made, among them those for this CPU
# What is mounted here is mounted for this script alone.
[[ ${MOUNTS:-} = own ]] || MOUNTS=own exec unshare --mount "$0" "$@"
source "$(dirname "$0")/../common.sh"
need crun crun
need umoci umoci
need jq jq
need curl curl
need python3 python3
folder=$(realpath "$1") architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
containers=()
chain=
end() {
    [[ -z $chain ]] || kill "$chain" || true
    for name in "${containers[@]}"; do crun --cgroup-manager=disabled --root "$work/state" delete --force "$name" 2> /dev/null || true; done
    rm -rf "$work"
}
trap end EXIT
fail() { echo "images: $*" >&2; exit 1; }
# crun refuses a machine that has both versions of control groups.
if mountpoint --quiet /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
crun=(crun --cgroup-manager=disabled --root "$work/state")
# within SECONDS COMMAND…: until it succeeds. A busy machine has twelve times as long.
within() {
    local end=$((SECONDS + 12 * $1)); shift
    until "$@" > /dev/null 2>&1; do ((SECONDS < end)) || fail "not within the time: $*"; sleep 0.05; done
}

# bundle PROGRAM NAME: an unpacked image, whose root nobody can write.
bundle() {
    local archive=$folder/$1-$version-$architecture.oci.tar
    (($(stat -c %s "$archive") <= 40 << 20)) || fail "$archive is larger than 40 MiB"
    mkdir -p "$work/$1"
    tar -xf "$archive" -C "$work/$1"
    docker_reads "$1"
    umoci --log fatal unpack --image "$work/$1:$1:$version" "$work/$2"
    licences "$2"
    [[ $(jq -c .process.user "$work/$2/config.json") = '{"uid":65532,"gid":65532'* ]] || fail "$1 does not run as 65532"
    # As a container of podman with the network of the machine: no capabilities, nothing to write but its volumes.
    change "$2" '.root.readonly = true | .process.terminal = false | .process.noNewPrivileges = true | .process.capabilities = {}
        | .linux.namespaces |= map(select(.type != "network" and .type != "cgroup")) | del(.linux.resources)
        | .mounts |= map(select(.type != "cgroup"))'
    # The tests' own programs need the C library of this machine; those that people get need nothing.
    if file "$work/$2"/rootfs/usr/bin/* | grep -q 'dynamically linked'; then
        for path in /lib /lib64; do
            mkdir -p "$work/$2/rootfs$path"
            change "$2" ".mounts += [{destination: \"$path\", type: \"bind\", source: \"$(realpath "$path")\", options: [\"rbind\", \"ro\"]}]"
        done
    fi
}
# docker_reads PROGRAM: `docker load` takes the name and the blobs of manifest.json, and compares the layers with the configuration.
docker_reads() {
    local image=$work/$1 config layer layers found=()
    [[ $(jq -r '.[].RepoTags[]' "$image/manifest.json") = "$1:$version" ]] || fail "manifest.json of $1 has another name"
    config=$(jq -r '.[].Config' "$image/manifest.json")
    layers=$(jq -r '.[].Layers[]' "$image/manifest.json")
    for layer in $layers; do found+=("sha256:$(gzip -cdf "$image/$layer" | sha256sum | cut -d ' ' -f 1)"); done
    [[ $(jq -r '.rootfs.diff_ids[]' "$image/$config") = "$(printf '%s\n' "${found[@]}")" ]] || fail "manifest.json of $1 has other layers"
}
# authorities NAME: those of TLS are Debian's, and not those that this machine trusts besides.
authorities() {
    cmp "$work/$1/rootfs/etc/ssl/certs/ca-certificates.crt" <(LC_ALL=C && cat /usr/share/ca-certificates/mozilla/*.crt) ||
        fail "$1 trusts other authorities of TLS than those of Debian's ca-certificates"
}
# licences NAME: quorate's own, and, where a release has written them, those of what the program is linked with.
licences() {
    local there=$work/$1/rootfs/usr/share/doc/quorate all=$folder/quorate-$version-licences.html
    cmp LICENSE-MIT "$there/LICENSE-MIT" && cmp LICENSE-APACHE "$there/LICENSE-APACHE" || fail "$1 has not both licences"
    [[ ! -e $all ]] || cmp "$all" "$there/LICENCES-OF-DEPENDENCIES.html" || fail "$1 has not the licences of its libraries"
}
change() { jq "$2" "$work/$1/config.json" > "$work/new" && mv "$work/new" "$work/$1/config.json"; }
# volume NAME SOURCE TARGET: a folder of the host that belongs to the image's user.
volume() {
    mkdir -p "$work/$2"
    chown 65532:65532 "$work/$2"
    chmod 700 "$work/$2"
    change "$1" ".mounts += [{destination: \"$3\", type: \"bind\", source: \"$work/$2\", options: [\"rbind\", \"rw\"]}]"
}
variables() { local name=$1; shift; change "$name" ".process.env += $(jq -cn '$ARGS.positional' --args -- "$@")"; }
arguments() { local name=$1; shift; change "$name" ".process.args = [.process.args[0]] + $(jq -cn '$ARGS.positional' --args -- "$@")"; }
run() { "${crun[@]}" run --bundle "$work/$1" "$1"; }
start() { containers+=("$1"); "${crun[@]}" run --detach --bundle "$work/$1" "$1" > "$work/$1.log" 2>&1; }
stop() {
    "${crun[@]}" kill "$1" TERM
    within 20 sh -c "${crun[*]} state $1 | grep -q stopped"
    "${crun[@]}" delete "$1"
}

bundle quorate cli
mkdir "$work/claims"
cp examples/claims.jsonl "$work/claims/"
volume cli claims /claims
arguments cli verify --quiet /claims/claims.jsonl
run cli > /dev/null || fail "quorate verify"

bundle quorate-server server
volume server known /var/lib/quorate-server
volume server sockets /run/quorate-server
variables server QUORATE_SERVER_LISTEN_ADDRESS=127.0.0.1:0 QUORATE_SERVER_LISTEN_SOCKET=/run/quorate-server/claims.sock
start server
ask() { curl --silent --unix-socket "$work/sockets/claims.sock" "$@"; }
within 20 ask --fail http://localhost/readyz
verdicts=$(ask --header 'Content-Type: application/x-ndjson' --data-binary @examples/claims.jsonl http://localhost/v1/verify)
[[ $(grep -c '"valid":true' <<< "$verdicts") = 6 ]] || fail "the server's verdicts: $verdicts"
stop server
[[ -n $(ls "$work/known") ]] || fail "the server's volume is empty"

bundle quorate-signer signer
volume signer record /var/lib/quorate-signer
volume signer socket /run/quorate-signer
volume signer key /key
printf 'a passphrase for this test' > "$work/key/passphrase"
volume cli key /key
arguments cli evm key --key-group bls12381-g2 --out /key/keystore --keystore --passphrase-file /key/passphrase
chmod 600 "$work/key/passphrase" && chown 65532:65532 "$work/key/passphrase"
run cli > /dev/null || fail "quorate evm key"
variables signer QUORATE_SIGNER_KEYSTORE=/key/keystore QUORATE_SIGNER_PASSPHRASE_FILE=/key/passphrase
address() { printf '0x%040x' "$1"; }
cp "$work/signer/config.json" "$work/as-it-runs"
arguments signer init --key-group bls12381-g2 --chain-id 1 --contract "$(address 170)" --verifier "$(address 187)" --operator "$(address 204)" \
    --genesis 1790000000 --epoch-length 3600 --slashing-window 86400
run signer > /dev/null || fail "quorate-signer init"
cp "$work/as-it-runs" "$work/signer/config.json"
start signer
within 20 test -S "$work/socket/signer.sock"

# The node reaches the signer's socket. Without a chain it says that it reaches none, which is exit code 3.
bundle quorate-node node
authorities node
volume node node /var/lib/quorate-node
volume node socket /run/quorate-signer
arguments node init --rpc http://127.0.0.1:9 --contract "$(address 170)" --operator "$(address 204)" --aggregate --http ''
code=0
run node > "$work/node.log" 2>&1 || code=$?
((code == 3)) || fail "quorate-node init without a chain ended with $code: $(cat "$work/node.log")"
stop signer

bundle quorate-chain chain
authorities chain
arguments chain --version
[[ $(run chain) = "quorate-chain $version" ]] || fail "quorate-chain"
# It follows a chain on which nothing was settled, and is ready when it has compared what it read with the contract.
python3 scripts/empty_chain.py 0 > "$work/port" 2> "$work/asked" &
chain=$!
within 20 test -s "$work/port"
volume chain follower /var/lib/quorate-chain
arguments chain follow --rpc "http://127.0.0.1:$(cat "$work/port")" --contract "$(address 12)" --metrics 127.0.0.1:0 --every 0.1
start chain
follows() { curl --silent --fail "$(sed -n 's|.*\(http://127[0-9.:]*\)/metrics|\1|p' "$work/chain.log")/readyz"; }
within 20 follows
stop chain
echo "5 images ran, none larger than $(du --bytes "$folder"/*-"$version-$architecture".oci.tar | sort -n | tail -n 1 | awk '{ printf "%.1f", $1 / 1048576 }') MiB"
