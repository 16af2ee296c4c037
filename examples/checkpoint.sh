#!/bin/sh
# Five signers, of whom three sign a block that nodes may assume to be valid. Mallory wants to sign another block of the same
# height, and its record forbids it; so it takes another record. Two complete checkpoints of one height are evidence that
# anyone can verify. Then the signers change the set: mallory leaves, and frank comes.
#
# It needs `quorate` on the PATH, works in a folder of its own, and takes a few seconds.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# 32 bytes that are all the same.
bytes() { printf '0x'; for _ in 1 2 3 4 5 6 7 8; do printf '%s%s%s%s' "$1" "$1" "$1" "$1"; done; }

# A proof that the owner of a key possesses it.
prove() { quorate pop prove --suite eth2 --key "$1.key" --json; }

# What a signer does with its key and its record: `signer sign alice sets.json checkpoint.json`. Its first signature begins the
# record.
signer() {
    command=$1 name=$2 sets=$3
    shift 3
    test -e "$name.record" || set -- --new-record "$@"
    quorate checkpoint "$command" --sets "$sets" --key "$name.key" --record "$name.record" "$@"
}

echo "== Everyone makes a key, and proves to possess it. The id of the set is what nodes pin."
for name in alice bob carol dave mallory frank; do
    quorate key new --suite eth2 --out "$name.key" > "$name.public" 2>> log
done
for name in alice bob carol dave mallory; do prove "$name"; done > proofs.jsonl
quorate checkpoint set --threshold 3 proofs.jsonl > sets.json 2> id
pin=$(sed 's/.*: //' id)

echo "== Alice proposes a block. Alice, bob and mallory sign it."
quorate checkpoint propose --sets sets.json --chain-id "$(bytes c1)" --first --height 800000 \
    --block-hash "$(bytes b2)" > checkpoint.json
for name in alice bob mallory; do signer sign "$name" sets.json checkpoint.json; done > signed.jsonl
quorate checkpoint combine --sets sets.json signed.jsonl > signed.json
quorate checkpoint verify --sets sets.json --pin "$pin" signed.json > verified
head -n 1 verified

echo "== Mallory wants to sign another block of the same height."
quorate checkpoint propose --sets sets.json --chain-id "$(bytes c1)" --first --height 800000 \
    --block-hash "$(bytes 66)" > other.json
signer sign mallory sets.json other.json 2> refused || echo "exit code $?"
sed 's/0x[0-9a-f]*/0x…/g' refused

echo "== So it takes another record, and carol and dave are deceived. Anyone can see who signed both."
rm mallory.record
for name in mallory carol dave; do signer sign "$name" sets.json other.json; done > other.jsonl
quorate checkpoint combine --sets sets.json other.jsonl > other-signed.json 2>> log
printf '{"checkpoints":[%s,%s]}' "$(cat signed.json)" "$(cat other-signed.json)" > evidence.json
quorate checkpoint judge --sets sets.json --pin "$pin" evidence.json > judged || echo "exit code $?"
head -n 1 judged
grep -q "$(sed 's/^0x//' mallory.public)" judged && echo "mallory signed both"

echo "== Mallory leaves the set, and frank comes. Signers of both sets agree."
for name in alice bob carol dave frank; do prove "$name"; done > next-proofs.jsonl
quorate checkpoint set --threshold 3 --epoch 2 next-proofs.jsonl > next.json 2>> log
for name in alice bob carol; do signer rotate "$name" sets.json --to next.json; done > rotation.jsonl
quorate checkpoint adopt --sets sets.json --pin "$pin" rotation.jsonl > new-sets.json

echo "== The new set signs the next block, on top of the first checkpoint."
previous=$(quorate checkpoint show checkpoint.json | sed -n 's/^digest *//p')
quorate checkpoint propose --sets new-sets.json --chain-id "$(bytes c1)" --previous "$previous" --height 802016 \
    --block-hash "$(bytes b3)" > checkpoint-2.json
for name in alice dave frank; do signer sign "$name" new-sets.json checkpoint-2.json; done > signed-2.jsonl
quorate checkpoint combine --sets new-sets.json signed-2.jsonl > signed-2.json
quorate checkpoint verify --sets new-sets.json --pin "$pin" signed-2.json > verified
head -n 1 verified
