#!/bin/sh
# Copies examples, and vectors where they are present, into fuzz/corpus as seeds.
set -eu
cd "$(dirname "$0")"
vectors=${QUORATE_VECTORS:-../../shared/vectors}

# Copies files to a target's corpus, under names that keep two of a name apart.
seed() {
    target=$1
    shift
    mkdir -p "corpus/$target"
    for file in "$@"; do
        [ -f "$file" ] && cp "$file" "corpus/$target/$(echo "$file" | tr -c 'A-Za-z0-9\n' '_')" || true
    done
}

seed jsonl ../examples/*.jsonl
seed parquet seeds/*.parquet
seed drand ../examples/drand-*.json "$vectors"/06_drand/*.json
seed light_client "$vectors"/07_eth_helios/*.json "$vectors"/07_eth_trin/*.json
seed keystore "$vectors"/05_keys/*keystore*.json
seed key_file "$vectors"/05_keys/*keystore*.json
mkdir -p corpus/batch_vs_naive corpus/key_file
echo 0x263dbd792f5b1be47ed85f8938c0f29586af0d3ac7b977f21c278fe1462040e3 > corpus/key_file/hex
# Every key and signature of the examples is a point.
mkdir -p corpus/decode_point
grep -ho '"\(public_key\|signature\)": "[^"]*"' ../examples/*.jsonl | sed 's/.*"\(0x\)\{0,1\}\([0-9a-f]*\)"$/\2/' | sort -u |
    while read -r hex; do
        # Octal escapes, which every printf knows.
        printf "$(echo "$hex" | fold -w2 | while read -r byte; do printf '\\%03o' "0x$byte"; done)" > "corpus/decode_point/$(echo "$hex" | cut -c1-16)"
    done
