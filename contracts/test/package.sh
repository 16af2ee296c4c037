#!/usr/bin/env bash
# Packs the package, and builds the contract of the README against it in two new projects: one that gets it from npm, and
# one of Foundry that has the repository in lib/. Their settings are the README's. Nothing is fetched: OpenZeppelin and the
# compilers are those of node_modules.
set -euo pipefail
cd "$(dirname "$0")/.."
contracts=$PWD
forge="$contracts/bin/forge"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "package.sh: $*" >&2
    exit 1
}

# The licences are copies, because npm packs no links.
for licence in LICENSE-APACHE LICENSE-MIT; do
    cmp "../$licence" "$licence" || fail "contracts/$licence is not ../$licence: copy it"
done

# Interfaces and libraries take a range of compilers. What is deployed takes one.
for file in $(find src testing -name '*.sol'); do
    case $file in
    src/interfaces/* | src/libraries/* | testing/* | src/Head.sol | src/Moment.sol | src/Account.sol) pragma='^0.8.27' ;;
    *) pragma='0.8.37' ;;
    esac
    grep -qxF "pragma solidity $pragma;" "$file" || fail "contracts/$file does not say 'pragma solidity $pragma;'"
done

# The nth fenced block of a language in the README.
block() {
    awk -v fence="\`\`\`$1" -v n="$2" '/^```/ && inside { inside = 0 } inside { print } $0 == fence { inside = (++seen == n) }' README.md
}

# Builds the README's contract in the current folder with each of these compilers.
build() {
    mkdir -p src
    block solidity 1 > src/Consumer.sol
    grep -q '^contract Consumer' src/Consumer.sol || fail "the README has no contract Consumer"
    for solc in "$@"; do
        SOLC_PACKAGE=$solc FOUNDRY_SOLC=$contracts/bin/solc FOUNDRY_OFFLINE=true "$forge" build --force --quiet ||
            fail "the README's contract does not compile with $solc and $PWD/foundry.toml"
        grep -q '"object":"0x60' out/Consumer.sol/Consumer.json || fail "$solc made no code of Consumer"
    done
}

npm pack --silent --pack-destination "$work" > "$work/name"
package=$work/$(cat "$work/name")

mkdir "$work/npm"
cd "$work/npm"
cat > package.json << JSON
{
  "dependencies": {
    "@openzeppelin/contracts": "file:$contracts/node_modules/@openzeppelin/contracts",
    "@quorate/contracts": "file:$package"
  }
}
JSON
npm install --offline --silent --no-audit --no-fund --ignore-scripts --install-links || fail "the package does not install"
for path in src/libraries/Bn254.sol src/interfaces/IVerifier.sol src/Settlements.sol testing/TestSigner.sol script/DeploySettlement.s.sol \
    examples/SettlesInATest.sol package.json; do
    node -e "require.resolve('@quorate/contracts/$path')" || fail "the package does not export $path"
done
cd "$contracts" && block toml 1 > "$work/npm/foundry.toml"
cp README.md "$work/npm" && cd "$work/npm"
build solc solc-0.8.27
# A script runs with these settings, too. Without a node nothing is sent.
CURVE=bn254-g2 SOLC_PACKAGE=solc FOUNDRY_SOLC=$contracts/bin/solc FOUNDRY_OFFLINE=true \
    "$forge" script node_modules/@quorate/contracts/script/DeploySettlement.s.sol --quiet ||
    fail "DeploySettlement does not run with the README's settings"
grep -q '"key_group"' deployments/*.json || fail "DeploySettlement wrote no network file"

mkdir -p "$work/foundry/lib/quorate/contracts"
cd "$contracts" && block toml 2 > "$work/foundry/foundry.toml"
cp README.md "$work/foundry" && cd "$work/foundry"
cp -R "$contracts/src" "$contracts/testing" lib/quorate/contracts
mkdir lib/openzeppelin-contracts
cp -R "$contracts/node_modules/@openzeppelin/contracts" lib/openzeppelin-contracts
build solc

echo "package: $(basename "$package") builds from npm and from lib/"
