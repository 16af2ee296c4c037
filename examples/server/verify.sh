#!/bin/sh
# Sends claims to a running quorate-server with curl. Start one with `quorate-server`, then run this from the repository.
set -eu
url=${QUORATE_URL:-http://127.0.0.1:9596}
here=$(dirname "$0")/..

echo "== One claim as JSON."
sed -n 1p "$here/one-false.jsonl" | curl --silent --show-error --fail-with-body \
    --header "Content-Type: application/json" --data-binary @- "$url/v1/verify?class=block"
echo

echo "== Lines, whose verdicts come as they are ready."
curl --silent --show-error --fail-with-body --no-buffer \
    --header "Content-Type: application/x-ndjson" --data-binary "@$here/one-false.jsonl" "$url/v1/verify" | sort

echo "== A request that is not understood."
curl --silent --show-error --header "Content-Type: application/json" --data '{"suite": "eth2"}' "$url/v1/verify"
echo

echo "== Is it ready?"
curl --silent --show-error "$url/readyz"
