#!/bin/sh
# Copies examples, and vectors where they are present, as seeds into the folder that it is given, or else into fuzz/corpus.
set -eu
cd "$(dirname "$0")"
corpus=${1:-corpus}
vectors=${QUORATE_VECTORS:-../shared/vectors}
# A relative path starts at the root of the checkout.
case $vectors in /*) ;; *) vectors=../$vectors ;; esac

# Copies files to a target's corpus, under names that keep two of a name apart.
seed() {
    target=$1
    shift
    mkdir -p "$corpus/$target"
    for file in "$@"; do
        [ -f "$file" ] && cp "$file" "$corpus/$target/$(echo "$file" | tr -c 'A-Za-z0-9\n' '_')" || true
    done
}

seed jsonl ../examples/*.jsonl seeds/members.jsonl
seed parquet seeds/*.parquet
# Claims of examples/claims.jsonl as another language hands them over, the last with the signature of another.
seed c_interface seeds/packed-claims
# A result, an attestation, evidence, a request and an answer, behind the byte that chooses the kind; a kept state.
seed node_message seeds/node-message-*
seed node_saved seeds/node-saved*
# A credential, a reply that tells of a peer, a challenge, an opening, a session, two messages and news, each behind the byte that
# chooses the kind; the options of docs/node.md; a network of four operators, as src/chain_logs.rs reads it.
seed node_bodies seeds/node-bodies-*
seed chain_logs seeds/chain-logs
mkdir -p "$corpus/node_options"
printf 'rpc = "http://127.0.0.1:8545"\ncontract = "0x%040x"\nattest = true\nvalidate = "python3 price.py"\ntask-every = 12\nconfirmations = 3\nlog = "json"\nbootstrap = "/ip4/192.0.2.1/tcp/1, /ip4/192.0.2.2/tcp/2"\n' 1 > "$corpus/node_options/options"
seed dkg seeds/dkg-*
seed one_round seeds/one-round-*
# Of any ceremony: the target puts its own in its place.
seed combination seeds/combination.json
seed checkpoint seeds/checkpoint-*.json
seed checkpoint_files seeds/checkpoint-ratchet seeds/checkpoint-record
mkdir -p "$corpus/checkpoint_headers"
printf '7 0x%064x\n\n9 %064x\r\n' 7 9 > "$corpus/checkpoint_headers/headers"
printf 'http://[::1]:9596/' > "$corpus/checkpoint_headers/http"
printf 'unix:/run/quorate.sock' > "$corpus/checkpoint_headers/unix"
for target in drand drand_chain; do
    seed $target ../examples/drand-*.json "$vectors"/06_drand/*.json
done
seed chia "$vectors"/07_chia_blocks/*.json
seed light_client "$vectors"/07_eth_helios/*.json "$vectors"/07_eth_trin/*.json
# A claim needs the bootstrap whose committee has signed the update.
cat ../examples/light-client/bootstrap.json ../examples/light-client/finality.json > "$corpus/light_client/both"
seed era ../examples/history/*.era ../examples/history/chain.json ../crates/quorate-history/tests/*/*.era "$vectors"/20_history/*/*.era
mkdir -p "$corpus/history_ssz"
# The first byte is the fork and the preset (src/history_ssz.rs).
for fork in '\000 phase0' '\001 altair' '\002 bellatrix' '\005 electra' '\006 fulu'; do
    set -- $fork
    for object in ../crates/quorate-history/tests/random/"$2"-minimal.*; do
        { printf "$1"; cat "$object"; } > "$corpus/history_ssz/$(basename "$object")"
    done
done
seed deposit "$vectors"/05_keys/*/*/*/deposit_data-*.json
mkdir -p "$corpus/change" "$corpus/exit"
key=$(printf 'a9%.0s' $(seq 48)) signature=$(printf 'b0%.0s' $(seq 96)) address=$(printf '11%.0s' $(seq 20))
message="{\"validator_index\":\"5\",\"from_bls_pubkey\":\"0x$key\",\"to_execution_address\":\"0x$address\"}"
printf '[{"message":%s,"signature":"0x%s","metadata":{"network_name":"mainnet"}}]' "$message" "$signature" > "$corpus/change/tool"
printf '{"data":[{"message":{"epoch":"7","validator_index":"5"},"signature":"0x%s"}]}' "$signature" > "$corpus/exit/pool"
seed keystore ../examples/anvil-account.json "$vectors"/05_keys/*keystore*.json
seed key_file "$vectors"/05_keys/*keystore*.json
mkdir -p "$corpus/batch_vs_naive" "$corpus/key_file"
echo 0x263dbd792f5b1be47ed85f8938c0f29586af0d3ac7b977f21c278fe1462040e3 > "$corpus/key_file/hex"
printf '{"kty":"OKP","crv":"BLS12381G1","d":"%s"}' "$(printf 'A%.0s' $(seq 43))" > "$corpus/key_file/jwk"
# Two of three share a key, whose points are generators, in each variant; and a share.
mkdir -p "$corpus/shared_key"
g1=97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb
g2=93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8
for key in "eth2 $g1 integers" "drand-quicknet $g2 roots-of-unity"; do
    set -- $key
    echo '{"suite":"'$1'","threshold":2,"participants":3,"identifiers":"'$3'","public_key":"'$2'","commitment":["'$2'","'$2'"]}' > "$corpus/shared_key/$1"
    echo '{"suite":"'$1'","index":1,"public_key":"'$2'","verification_key":"'$2'","secret":"'$(printf %064x 1)'"}' > "$corpus/shared_key/$1-share"
done
# Every key and signature of the examples is a point.
mkdir -p "$corpus/decode_point"
grep -ho '"\(public_key\|signature\)": "[^"]*"' ../examples/*.jsonl | sed 's/.*"\(0x\)\{0,1\}\([0-9a-f]*\)"$/\2/' | sort -u |
    while read -r hex; do
        # Octal escapes, which every printf knows.
        printf "$(echo "$hex" | fold -w2 | while read -r byte; do printf '\\%03o' "0x$byte"; done)" > "$corpus/decode_point/$(echo "$hex" | cut -c1-16)"
    done
# The generators of BN254 in the EVM's order, a key in both groups, and a quorum of one member without a base.
mkdir -p "$corpus/evm_point" "$corpus/evm_quorum"
octal() { fold -w2 | while read -r byte; do printf '\\%03o' "0x$byte"; done; }
g1=$(printf '%064x%064x' 1 2)
g2=198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c21800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa
for hex in "$g1" "$g2" "$g1$g2"; do
    printf "$(echo "$hex" | octal)" > "$corpus/evm_point/${#hex}"
done
printf "$(echo "ffffffff0000000100000080$g1$g2" | octal)" > "$corpus/evm_quorum/one_member"
# Lines of members, one of them false.
seed evm_signatures ../examples/signatures.jsonl
head -n 1 ../examples/signatures.jsonl > "$corpus/evm_signatures/one"
# Each request of a signer, and a record of two tasks.
mkdir -p "$corpus/signer_request"
network='"chain_id":1,"contract":"0x'$(printf %040x 1)'"'
task='{"id":"0x'$(printf %064x 2)'","performer":3,"result":"0x'$(printf %064x 4)'","approved":true}'
printf '{"request":"status"}' > "$corpus/signer_request/status"
printf '{"request":"public_key"}' > "$corpus/signer_request/public_key"
printf '{"request":"sign_task",%s,"epoch":5,"snapshot":"0x%040x","task":%s}' "$network" 6 "$task" > "$corpus/signer_request/sign_task"
printf '{"request":"possession",%s,"verifier":"0x%040x","operator":"0x%040x"}' "$network" 7 8 > "$corpus/signer_request/possession"
printf '{"request":"bind_peer",%s,"peer_id":"0x0024"}' "$network" > "$corpus/signer_request/bind_peer"
seed signer_record seeds/signer-record.json
# Two claims as a stream of Arrow, and as a file with a footer, a dictionary and buffers in lz4; a compressed text of each kind, that of
# zstd in one block as it is.
seed arrow seeds/claims.arrow seeds/claims.feather
mkdir -p "$corpus/compression" "$corpus/lines" "$corpus/server_config" "$corpus/server_request" "$corpus/shards"
gzip -nc ../examples/one-false.jsonl > "$corpus/compression/gzip"
printf '\050\265\057\375\040\005\051\000\000claim' > "$corpus/compression/zstd"
seed lines ../examples/one-false.jsonl
printf '\357\273\277{"data": [{"index": "5",\r\n  "validator": {"pubkey": "0x%s"}}]}\r\n' "$(printf 'a9%.0s' $(seq 48))" > "$corpus/lines/validators"
printf '[listen]\naddress = "127.0.0.1:9596"\n[limits]\nclaims = 500\n\0limits.keys=7\n' > "$corpus/server_config/config"
# A document, lines, a table and a query, each behind the byte that chooses the kind.
claim=$(head -n 1 ../examples/one-false.jsonl)
printf '\000[%s]' "$claim" > "$corpus/server_request/document"
printf '\001%s\n%s\n' "$claim" '{"id": 1, "key_set": "a", "members": [0, 2], "message": "0x0b", "signature": "0x0c"}' > "$corpus/server_request/lines"
{ printf '\002'; cat seeds/claims.arrow; } > "$corpus/server_request/table"
printf '\003suite=eth2&class=block&deadline_ms=500' > "$corpus/server_request/query"
# Plans without their last line: of lines and rounds, and of two eras in a file.
zeros=$(printf %064x 0)
head='{"format":"quorate-shards","version":1,"soundness":64,"verdicts":"all"'
shard() { printf '{"shard":%s,"file":"%s","bytes":10,"sha256":"%s","covers":%s}\n' "$1" "$2" "$zeros" "$3"; }
{
    echo "$head}"
    shard 0 /a.jsonl '{"lines":{"from":0,"of":20,"first":1,"lines":2}}'
    shard 1 /a.jsonl '{"lines":{"from":10,"of":20,"first":3,"lines":1}}'
    shard 2 /b.parquet '{"rows":{"group":0,"end":2,"of":2,"rows":9}}'
    shard 3 /c.json '"rounds"'
} > "$corpus/shards/lines"
{
    echo "$head,\"network\":{\"name\":\"minimal\",\"chain\":$(tr -d '\n' < ../examples/history/chain.json)}}"
    shard 0 /a.era '{"era":{"era":0,"blocks":0,"before":null}}'
    shard 1 /a.era '{"era":{"era":1,"begins":10,"blocks":3,"before":{"file":"/a.era","bytes":10,"sha256":"'$zeros'"}}}'
} > "$corpus/shards/eras"
# A result without its digests: two claims, one of them false.
mkdir -p "$corpus/shard_results"
printf '{"file":"/rounds.json","line":1,"valid":false,"reason":"a false signature"}\n%s\n' \
    '{"receipt":{"claims":2,"valid":1,"invalid":1,"bytes":10,"seconds":0.5,"threads":1,"backend":"portable","version":"0.1.0","rounds":[{"suite":"drand-unchained","public_key":"","first":1,"last":2,"signature":""}]}}' \
    > "$corpus/shard_results/one_false"
# A list of keys, and a saved set of one member, the generator, without its digest.
mkdir -p "$corpus/key_sets" "$corpus/evm_follow" "$corpus/grpc_message"
sed 's/.*"public_key": "\([^"]*\)".*/\1/' ../examples/one-false.jsonl > "$corpus/key_sets/list"
generator=17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1
printf "quorate key set 1\neth2\n\001\000\000\000\000\000\000\000\002$(echo $generator | octal)" > "$corpus/key_sets/saved"
# A network; the log of the key of member 0 of table 0, and that of its page, as src/evm_follow.rs reads them.
seed evm_network ../examples/network.json
printf "$(echo "000200c00000$zeros$zeros$(printf '%064x%064x' 32 128)${g2}010200400000$zeros$zeros$(printf '%064x%064x' 0 1)" | octal)" > "$corpus/evm_follow/key"
# A claim with a key, a message, a signature and two indices.
printf "$(echo 12170a01611204657468321a0201022201053201065a020102 | octal)" > "$corpus/grpc_message/claim"
