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
seed checkpoint seeds/checkpoint-*.json
seed checkpoint_files seeds/checkpoint-ratchet seeds/checkpoint-record
mkdir -p "$corpus/checkpoint_headers"
printf '7 0x%064x\n\n9 %064x\r\n' 7 9 > "$corpus/checkpoint_headers/headers"
printf 'http://[::1]:9596/' > "$corpus/checkpoint_headers/http"
printf 'unix:/run/quorate.sock' > "$corpus/checkpoint_headers/unix"
seed drand ../examples/drand-*.json "$vectors"/06_drand/*.json
seed light_client "$vectors"/07_eth_helios/*.json "$vectors"/07_eth_trin/*.json
seed era "$vectors"/20_history/*/*.era
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
seed keystore "$vectors"/05_keys/*keystore*.json
seed key_file "$vectors"/05_keys/*keystore*.json
mkdir -p "$corpus/batch_vs_naive" "$corpus/key_file"
echo 0x263dbd792f5b1be47ed85f8938c0f29586af0d3ac7b977f21c278fe1462040e3 > "$corpus/key_file/hex"
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
printf "$(echo "ffffffffffffffff00000001000080$g1$g1" | octal)" > "$corpus/evm_quorum/one_member"
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
