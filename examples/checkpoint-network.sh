#!/bin/sh
# Five signers, of whom three sign a block. Each of the three posts its signature to another server, so no server has enough. A
# node that syncs asks all servers, unites what they answer, and skips. Then three signers, one of them again, sign another block
# of the same height: nobody skips any more.
#
# It needs `quorate`, `quorate-server` and `curl` on the PATH, works in a folder of its own, and takes a few seconds.
set -eu

folder=$(mktemp -d)
cd "$folder"
trap 'kill $(cat ./*.pid) 2> /dev/null || true; rm -rf "$folder"' EXIT

# What a server is started with: `serve a`.
serve() {
    QUORATE_SERVER_CHECKPOINT_SETS=sets.json QUORATE_SERVER_CHECKPOINT_PIN=$pin \
        QUORATE_SERVER_CHECKPOINT_CHAIN_ID=$chain QUORATE_SERVER_CHECKPOINT_FOLDER=board-$1 \
        quorate-server --listen '' --socket "$1.sock" --set verify.threads=1 2>> log &
    echo $! > "$1.pid"
    tries=0
    until curl --silent --unix-socket "$1.sock" http://localhost/livez > /dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1000 ] || { cat log; exit 1; }
        sleep 0.1
    done
}

# A signer signs, and posts its signature to a server: `post alice checkpoint.json a`. Its first signature begins its record.
post() {
    new=
    test -e "$1.record" || new=--new-record
    # shellcheck disable=SC2086 # Without the option there is no word.
    quorate checkpoint sign --sets sets.json --key "$1.key" --record "$1.record" $new "$2" > "$1.json"
    curl --silent --show-error --fail-with-body --unix-socket "$3.sock" --header "Content-Type: application/json" \
        --data-binary "@$1.json" http://localhost/v1/checkpoint
    echo
}

# A node that syncs: `ask status`.
ask() {
    command=$1
    shift
    quorate-server checkpoint "$command" --folder node --chain-id "$chain" --pin "$pin" "$@"
}

fetch() {
    ask fetch --headers headers --depth 2000 \
        --node "unix:$folder/a.sock" --node "unix:$folder/b.sock" --node "unix:$folder/c.sock" > fetched || echo "exit code $?"
    sed 's#unix:.*/#unix:/…/#' fetched
}

# The chain's id, and the hash of a block.
chain=$(printf '0x%064x' 1)
block=$(printf '0x%064x' 800000)

for name in alice bob carol dave mallory; do
    quorate key new --suite eth2 --out "$name.key" > /dev/null 2>> log
    quorate pop prove --suite eth2 --key "$name.key" --json
done > proofs.jsonl
quorate checkpoint set --threshold 3 proofs.jsonl > sets.json 2> id
pin=$(sed 's/.*: //' id)
quorate checkpoint propose --sets sets.json --chain-id "$chain" --first --height 800000 --block-hash "$block" > checkpoint.json

echo "== Three servers. Alice, bob and mallory sign, and each of them posts to another server."
for server in a b c; do serve "$server"; done
post alice checkpoint.json a
post bob checkpoint.json b
post mallory checkpoint.json c

echo "== A server is killed and started again. It has lost nothing."
kill -9 "$(cat a.pid)"
wait "$(cat a.pid)" || true
serve a
curl --silent --unix-socket a.sock http://localhost/v1/checkpoint | grep -o '"height":[0-9]*,'

echo "== A node has chosen its chain of headers, and asks the servers."
awk 'BEGIN { for (height = 799000; height <= 802016; height++) printf "%d 0x%064x\n", height, height }' > headers
fetch

echo "== Later it has verified the first half of the blocks that it had skipped."
ask prove --up-to 400000 > proven
sed -n '/^Assumed/,/^No evidence/p' proven

echo "== Mallory takes another record, and deceives carol and dave: another block at the same height."
rm mallory.record
quorate checkpoint propose --sets sets.json --chain-id "$chain" --first --height 800000 --block-hash "$chain" > other.json
for name in carol dave mallory; do post "$name" other.json b; done > posted
tail -n 1 posted
fetch
