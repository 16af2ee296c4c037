#!/bin/sh
# Five members make a key of which any three sign, and nobody ever holds it whole. One of them cheats: mallory deals twice,
# and shows one deal to alice and bob, and another one to carol and dave. The ceremony goes on without its deals, makes a key,
# and leaves a file that proves to anyone what mallory did.
#
# It needs `quorate` on the PATH, works in a folder of its own, and takes a few seconds.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
honest="alice bob carol dave"

# What a member does, in its own folder: `step deal alice` runs `quorate dkg deal`.
step() {
    command=$1 name=$2
    shift 2
    quorate dkg "$command" "$name/ceremony" --identity "$name"/*.identity.json "$@" 2>> "$name/log"
}

# Copies the messages of one member's folder to another's, as scp, git or a bucket would. What is there stays.
carry() {
    for file in "$1"/ceremony/messages/*; do
        [ -e "$2/ceremony/messages/${file##*/}" ] || cp "$file" "$2/ceremony/messages"
    done
}

# Everyone gets everyone's messages.
carry_all() {
    for from in $honest mallory; do
        for to in $honest mallory; do carry "$from" "$to"; done
    done
}

echo "== Everyone makes an identity, and one member describes the ceremony."
for name in $honest mallory; do
    mkdir "$name"
    quorate dkg identity "$name" --out "$name" > "$name/member" 2>> "$name/log"
done
quorate dkg init ceremony --suite eth2 --threshold 3 */*.member.json > id 2>> alice/log
for name in $honest mallory; do cp -r ceremony "$name"; done

echo "== Everyone deals. Mallory deals a second time, from a copy of its identity."
mkdir twin
cp -r mallory/ceremony mallory/mallory.identity.json twin
for name in $honest mallory twin; do step deal "$name"; done
for name in alice bob; do carry mallory "$name"; done
for name in carol dave; do carry twin "$name"; done

echo "== Alice looks at what has arrived."
quorate dkg status alice/ceremony
carry_all

echo "== Everyone answers the deals, and says which deals it saw."
for name in $honest mallory; do step receive "$name"; done
carry_all
for name in $honest mallory; do step complain "$name"; done
carry_all

echo "== Everyone writes the key and its share of it. What alice is told:"
for name in $honest; do step finish "$name" > "$name/key"; done
grep mallory alice/log | grep -v wrote | sort -u
for name in bob carol dave; do cmp alice/key "$name/key"; done

echo "== A third party, who has ceremony.json alone, judges the evidence."
quorate dkg judge ceremony alice/ceremony/blame-mallory-*.json || echo "exit code $?"

echo "== Alice, carol and dave sign."
for name in alice carol dave; do
    printf '%032d' 42 | quorate threshold sign --share "$name/$name".share-*.json - >> signed.jsonl 2>> "$name/log"
done
quorate threshold combine --shared-key alice/ceremony/shared-key.json signed.jsonl > claim.jsonl
quorate verify claim.jsonl
