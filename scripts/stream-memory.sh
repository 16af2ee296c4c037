#!/bin/sh
# Streams claims into `quorate verify` and checks that its memory stays bounded, however long the stream is.
#
# usage: scripts/stream-memory.sh [MEGABYTES [KIBIBYTES]]
#
# The stream is examples/claims.jsonl again and again, each claim under an id of its own: once its small claims alone and
# once all of it, the sync aggregate of 512 keys included. MEGABYTES (1000) is the length of each stream, KIBIBYTES
# (262144) the most memory that verifying it may take. QUORATE names the binary. Needs GNU time.
set -eu

megabytes=${1:-1000}
limit=${2:-262144}
cd "$(dirname "$0")/.."
quorate=${QUORATE:-${CARGO_TARGET_DIR:-target}/dist/quorate}
[ -x "$quorate" ] || { echo "there is no $quorate; build it with \`cargo build --profile dist -p quorate-cli\`" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Claims from a file, again and again with new ids, until there are so many bytes. Says on standard error how many.
repeat() {
    awk -v bytes="$((megabytes * 1000000))" '
        BEGIN { n = 0 }
        { sub(/^\{"id": "[^"]*"/, ""); rest[NR] = $0 }
        END {
            while (written < bytes) {
                line = "{\"id\": " n rest[n % NR + 1]
                n++
                print line
                written += length(line) + 1
            }
            print n > "/dev/stderr"
        }' "$1"
}

check() {
    name=$1 file=$2
    repeat "$file" 2> "$scratch/claims" |
        /usr/bin/time -f '%M %e %U' -o "$scratch/time" "$quorate" verify -q --json - > "$scratch/summary"
    claims=$(cat "$scratch/claims")
    read -r peak seconds cpu < "$scratch/time"
    echo "$name: $megabytes MB, $claims claims, peak $peak KiB, $seconds s ($cpu s of CPU)"
    grep -q "\"claims\":$claims,\"valid\":$claims,\"invalid\":0,\"malformed\":0," "$scratch/summary" ||
        { echo "error: not every claim was found valid: $(cat "$scratch/summary")" >&2; exit 1; }
    [ "$peak" -le "$limit" ] || { echo "error: more than $limit KiB" >&2; exit 1; }
}

grep -v '"public_keys"' examples/claims.jsonl > "$scratch/small.jsonl"
check "small claims" "$scratch/small.jsonl"
check "all claims" examples/claims.jsonl
