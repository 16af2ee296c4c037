#!/usr/bin/env bash
# Installs the Debian packages in an empty Debian 12 that has booted, as a stranger would: units that systemd understands and starts, the first
# job of each program, an upgrade, removal, purge. The first job of a node beside its signer is a task, settled on a chain of this machine; that of
# the timer is the next epoch of a settlement. It needs root, systemd-nspawn, and what `make contracts` installs.
#
#   packaging/tests/installed.sh TREE
#
# TREE is what `packaging/programs.sh` made, or a folder with `bin` alone, to which `packaging/tree.sh` adds the rest.
source "$(dirname "$0")/../common.sh"
need debootstrap debootstrap
need systemd-nspawn systemd-container
need python3 python3
need jq jq
anvil=$(echo "$PWD"/contracts/node_modules/@foundry-rs/anvil-linux-*/bin/anvil)
[[ -x $anvil ]] || { echo "installed.sh needs a chain: make contracts/node_modules/.package-lock.json" >&2; exit 1; }
[[ $(id -u) = 0 ]] || { echo "installed.sh boots another root, which root alone may do" >&2; exit 1; }
tree=$(realpath "$1")
work=$(mktemp -d)
root=$work/root
machine=
chains=()
end() {
    for chain in "${chains[@]}"; do kill "$chain" || true; done
    [[ -z $machine ]] || { inside systemctl poweroff --force > /dev/null 2>&1 || kill "$machine" || true; wait "$machine" || true; }
    rm -rf "$work"
}
trap end EXIT
fail() { echo "installed: $*" >&2; inside journalctl --no-pager --lines 20 2> /dev/null >&2 || true; exit 1; }
inside() { nsenter --target "$leader" --all /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
ms() { echo $(($(date +%s%N) / 1000000)); }
# within SECONDS COMMAND…: until it succeeds. A busy machine has twelve times as long.
within() {
    local end=$((SECONDS + 12 * $1)); shift
    until "$@" > /dev/null 2>&1; do ((SECONDS < end)) || fail "not within the time: $*"; sleep 0.05; done
}

# The package before this one, as far as dpkg knows. Nobody waits for a compression here.
export LEVEL=0
architecture=$(dpkg --print-architecture)
VERSION=$version~before packaging/debs.sh "$tree" "$architecture" "$work/before"
packaging/debs.sh "$tree" "$architecture" "$work/now"
# Each was made in a folder of its own, so what is made again is the same, or tells something about its folder.
packaging/debs.sh "$tree" "$architecture" "$work/again"
for package in "$work"/now/*; do cmp "$package" "$work/again/${package##*/}" || fail "packages of one tree differ"; done

# The mirror and the keys that this machine itself uses.
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Release: bookworm' | head -n 1)
[[ -n $mirror ]] || { echo "installed: apt knows no mirror of Debian 12" >&2; exit 1; }
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,curl,ca-certificates,procps,python3 bookworm "$root" "$mirror" > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
cp -r examples "$root/root/examples"
mkdir "$root/packages"
cp "$work"/before/*.deb "$work"/now/*.deb "$root/packages/"
systemd-nspawn --quiet --directory "$root" --boot --register=no --keep-unit --private-network --console=pipe < /dev/null > "$work/console" 2>&1 &
machine=$!
within 20 pgrep --parent "$machine"
leader=$(pgrep --parent "$machine" | head -n 1)
within 60 inside systemctl is-system-running --wait

install() { inside sh -c "dpkg --install /packages/quorate*_$1_$architecture.deb" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
begun=$(ms)
install "$version~before"
inside quorate verify --quiet /root/examples/claims.jsonl > /dev/null || fail "the examples are not valid"
took=$(($(ms) - begun))
echo "installed, and a first verdict: $took ms"
# Other jobs run beside this one in CI.
most=10000
[[ ${CI:-} != true ]] || most=120000
((took <= most)) || fail "that is too long"

# ---- What lies where ----
units=$(cd "$root/lib/systemd/system" && echo quorate-*.*)
said=$(inside systemd-analyze verify --man=no --recursive-errors=no $(printf '/lib/systemd/system/%s ' $units) 2>&1) || true
[[ -z $said ]] || fail "systemd-analyze verify: $said"
for unit in $units; do
    [[ $unit = *.service ]] || continue
    exposure=$(inside systemd-analyze security --offline=yes --no-pager "/lib/systemd/system/$unit" | sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
    echo "$unit: exposure $exposure"
    awk -v "exposure=$exposure" 'BEGIN { exit !(exposure != "" && exposure <= 3.0) }' || fail "$unit is too exposed: $exposure"
done
for program in "${programs[@]}"; do
    [[ -e $root/usr/share/man/man1/$program.1.gz ]] || fail "no man page of $program"
    for file in bash-completion/completions/"$program" zsh/vendor-completions/_"$program" fish/vendor_completions.d/"$program".fish; do
        [[ -s $root/usr/share/$file ]] || fail "no completions in $file"
    done
    least=1000
    # More often on a busy machine, until it was once quick enough.
    for _ in $(seq 50); do
        begun=$(ms)
        inside "$program" --version > /dev/null
        took=$(($(ms) - begun))
        ((took >= least)) || least=$took
        ((least > 100)) || break
    done
    echo "$program --version: $least ms"
    ((least <= 100)) || fail "$program starts in $least ms"
done
# From the start of the program until a request has had its answer; the signer's start is the second that its keystore takes.
ready() {
    inside sh -c 'begun=$(date +%s%N)
        quorate-server --listen "" --socket /root/ready.sock 2> /dev/null &
        until curl --silent --fail --unix-socket /root/ready.sock http://localhost/readyz > /dev/null; do :; done
        echo $((($(date +%s%N) - begun) / 1000000))
        kill $! && wait $!'
}
least=1000
for _ in $(seq 50); do
    took=$(ready)
    ((took >= least)) || least=$took
    ((least > 100)) || break
done
echo "quorate-server is ready after $least ms"
((least <= 100)) || fail "quorate-server is ready after $least ms"
[[ $(stat -c %a "$root/etc/quorate-signer") = 700 && $(stat -c %a "$root/etc/quorate-node") = 700 ]] || fail "the folders of keys are open"
! inside systemctl is-enabled --quiet quorate-signer || fail "the signer would start without a key"

# ---- Chains on the loopback of the root ----
loopback=(nsenter --net --target "$leader")
# One with a block a second, the one before the last of which is final.
"${loopback[@]}" "$anvil" --hardfork osaka --block-time 1 --slots-in-an-epoch 1 --port 8545 --silent --config-out "$work/accounts" &
chains+=($!)
# Another one, on which nothing was settled.
"${loopback[@]}" python3 scripts/empty_chain.py 8546 > "$work/asked" 2>&1 &
chains+=($!)
within 20 test -s "$work/accounts"
rpc=http://127.0.0.1:8545
within 20 inside curl --silent --fail --header 'Content-Type: application/json' \
    --data '{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}' "$rpc"
# address NUMBER: of an account of this chain that has money. key NUMBER FILE: its key, in a file of the root that root alone reads.
address() { jq --raw-output ".available_accounts[$1]" "$work/accounts"; }
key() { (umask 077 && jq --raw-output ".private_keys[$1][2:]" "$work/accounts" > "$root$2"); }

# ---- The first job of each program ----
inside quorate selftest > /dev/null 2>&1 || fail "selftest"
ask() { inside curl --silent --fail --unix-socket /run/quorate-server/claims.sock "$@"; }
within 10 ask http://localhost/readyz
inside systemctl is-enabled --quiet quorate-server && inside systemctl is-active --quiet quorate-server || fail "the server does not run"
verdicts() { ask --header 'Content-Type: application/x-ndjson' --data-binary @/root/examples/claims.jsonl http://localhost/v1/verify; }
[[ $(verdicts | grep -c '"valid":true') = 6 ]] || fail "the server's verdicts: $(verdicts)"
# Whoever is in the group reaches the socket, and nobody else.
inside useradd --groups quorate-clients client
inside useradd other
inside runuser -u client -- curl --silent --fail --unix-socket /run/quorate-server/claims.sock http://localhost/readyz > /dev/null || fail "the group is shut out"
! inside runuser -u other -- curl --silent --fail --unix-socket /run/quorate-server/claims.sock http://localhost/readyz > /dev/null || fail "everybody reaches the server"

# A network of tasks, as docs/node.md makes one. Account 0 pays for it, and account 1 is its operator.
key 0 /root/payer
inside quorate-node create --rpc "$rpc" --key-file /root/payer --epoch-length 3600 --slashing-window 3600 --pool 10000 \
    --give "$(address 1)=500" > "$work/made" 2> "$work/log" || fail "quorate-node create: $(cat "$work/log")"
network=$(sed -n 's/^contract  *\(0x[0-9a-fA-F]*\), in block .*/\1/p' "$work/made")
# As docs/install.md has it: a command as the programs' user, whose folder systemd makes.
unit() {
    inside systemd-run --quiet --pipe --wait --uid quorate --property "StateDirectory=quorate-$1" --property StateDirectoryMode=0700 "${@:2}"
}
# Without a chain, a node says that it reaches none.
code=0
unit node quorate-node init --data /var/lib/quorate-node --rpc http://127.0.0.1:9 --contract "$network" > "$work/log" 2>&1 || code=$?
((code == 3)) || fail "quorate-node init without a chain ended with $code: $(cat "$work/log")"
inside runuser -u quorate -- test -w /var/lib/quorate-node || fail "the node's user cannot write its folder"
code=0
inside quorate-node status --rpc http://127.0.0.1:9 --contract "$network" > "$work/log" 2>&1 || code=$?
((code == 3)) || fail "a node without a chain ended with $code: $(cat "$work/log")"
# The programs of the operator are those of docs/node.md.
cp examples/task-price/price.py "$root/usr/local/lib/price.py"
job="python3 /usr/local/lib/price.py"
unit node quorate-node init --data /var/lib/quorate-node --signer /run/quorate-signer/signer.sock --operator "$(address 1)" --rpc "$rpc" \
    --contract "$network" --perform --attest --aggregate --execute "$job" --validate "$job" --task-every 2 > "$work/made" 2> "$work/log" ||
    fail "quorate-node init: $(cat "$work/log")"
# The terms, as it prints them for the signer.
terms=$(grep -o -w -E -e '--(key-group|chain-id|contract|verifier|operator|genesis|epoch-length|slashing-window) [^ ]+' "$work/made" | sort --unique)
(umask 077 && printf 'a passphrase for this test' > "$root/etc/quorate-signer/passphrase")
inside quorate evm key $(grep -e '^--key-group' <<< "$terms") --out /etc/quorate-signer/keystore.json --keystore \
    --passphrase-file /etc/quorate-signer/passphrase > /dev/null
unit signer --property LoadCredential=keystore:/etc/quorate-signer/keystore.json --property LoadCredential=passphrase:/etc/quorate-signer/passphrase \
    sh -c 'quorate-signer init --data /var/lib/quorate-signer --keystore "$CREDENTIALS_DIRECTORY/keystore" \
    --passphrase-file "$CREDENTIALS_DIRECTORY/passphrase" "$@"' init $terms > "$work/log" 2>&1 || fail "quorate-signer init: $(cat "$work/log")"
process() { inside systemctl show --property MainPID --value "$1"; }
metrics() { inside curl --silent --fail http://127.0.0.1:9603/metrics; }
# What carries the metrics is there before the signer first starts.
inside systemctl enable --quiet --now quorate-signer-metrics.socket
! metrics > /dev/null || fail "there are metrics without a signer"
carrier=$(process quorate-signer-metrics)
inside systemctl enable --quiet --now quorate-signer
within 20 test -S "$root/run/quorate-signer/signer.sock" -o -S "/proc/$leader/root/run/quorate-signer/signer.sock"
record() {
    inside runuser -u quorate -- quorate-signer status --data /var/lib/quorate-signer --socket /run/quorate-signer/signer.sock | grep '"public_key"'
}
record=$(record)
# It does not see the socket that signs, not even after the signer was started again.
within 10 metrics
inside systemctl restart quorate-signer
within 10 metrics
[[ $carrier != 0 && $carrier = $(process quorate-signer-metrics) ]] || fail "the carrier of the metrics was started again"
sees() { inside nsenter --mount --target "$carrier" test -S "$1"; }
sees /run/quorate-signer-metrics/metrics.sock || fail "the carrier of the metrics does not see theirs"
! sees /run/quorate-signer/signer.sock || fail "the carrier of the metrics sees the socket that signs"
# As docs/signer.md has it: a sealed passphrase, here by a key of this root, because there is no TPM.
inside systemd-creds encrypt --with-key=host --name=passphrase /etc/quorate-signer/passphrase /etc/quorate-signer/sealed > "$work/log" 2>&1 ||
    fail "systemd-creds: $(cat "$work/log")"
mkdir "$root/etc/systemd/system/quorate-signer.service.d"
cat > "$root/etc/systemd/system/quorate-signer.service.d/sealed.conf" << END
[Service]
LoadCredential=
LoadCredential=keystore:/etc/quorate-signer/keystore.json
LoadCredentialEncrypted=passphrase:/etc/quorate-signer/sealed
END
rm "$root/etc/quorate-signer/passphrase"
inside systemctl daemon-reload
inside systemctl restart quorate-signer
within 10 metrics

# The operator's account, which owns the stake, registers it. Account 2 pays for the node.
key 1 /root/operator-account
unit node --property LoadCredential=account:/root/operator-account \
    sh -c 'quorate-node register --data /var/lib/quorate-node --key-file "$CREDENTIALS_DIRECTORY/account" "$@"' register --tokens 100 \
    > "$work/log" 2>&1 || fail "quorate-node register: $(cat "$work/log")"
rm "$root/root/operator-account"
key 2 /etc/quorate-node/payer
inside systemctl enable --quiet --now quorate-node || fail "the node does not start"
works() { inside curl --silent --fail http://127.0.0.1:9601/readyz; }
within 30 works
# settled: how many tasks the contract has taken, of those that the node lists.
settled() { inside curl --silent --fail http://127.0.0.1:9601/v1/tasks | jq '[.tasks[] | select(.settlement.approved)] | length'; }
settles() { (($(settled) > $1)); }
within 60 settles 0
# It sees the signer's socket, and nothing of its record.
node() { inside nsenter --mount --target "$(process quorate-node)" "$@"; }
node test -S /run/quorate-signer/signer.sock || fail "the node does not see the signer's socket"
[[ -n $(inside ls /var/lib/quorate-signer) && -z $(node ls /var/lib/quorate-signer) ]] || fail "the node sees the signer's record"

# A settlement whose members weigh what they have at stake in a restaking protocol, as contracts/README.md deploys one. The protocol is the
# mock of the contracts' tests, in which account 3 has stake.
script() {
    local name=$1; shift
    (cd contracts && "${loopback[@]}" env NETWORK_FILE=deployments/installed.json "$@" --rpc-url "$rpc" --private-key "0x$(cat "$root/root/payer")" --broadcast) \
        > "$work/log" 2>&1 || fail "$name: $(cat "$work/log")"
}
deployed() { sed -n "s/^$1: .* \(0x[0-9a-fA-F]*\)\$/\1/p" "$work/log"; }
script protocol bin/forge script test/mocks/DeployRestaking.s.sol --sig 'eigenLayer(address[])' "[$(address 3)]"
script settlement CURVE=bn254-g1 GENESIS=0 "ALLOCATION_MANAGER=$(deployed manager)" "STRATEGIES=$(deployed strategy)" \
    "AVS=$(address 0)" OPERATOR_SET=7 bin/forge script script/DeployEigenLayer.s.sol
registrar=$(deployed registrar)
mv contracts/deployments/installed.json "$root/root/network.json"
settlement=$(jq --raw-output .contract "$root/root/network.json")
# It is followed, and account 3 registers its key.
printf 'QUORATE_CHAIN_RPC=%s\nQUORATE_CHAIN_CONTRACT=%s\n' "$rpc" "$settlement" >> "$root/etc/default/quorate-chain"
inside systemctl enable --quiet --now --no-block quorate-chain-follow
key 3 /root/account
inside quorate evm key --key-group bn254-g1 --out /root/operator.key > /dev/null
inside sh -c 'quorate evm register --key-group bn254-g1 --key /root/operator.key --network /root/network.json --transactions "$@" > /root/register.jsonl' \
    register --owner "$(address 3)" --stake-registrar "$registrar" > "$work/log" 2>&1 || fail "quorate evm register: $(cat "$work/log")"
inside quorate-chain send --rpc "$rpc" --transactions /root/register.jsonl --key-file /root/account > "$work/log" 2>&1 ||
    fail "quorate-chain send: $(cat "$work/log")"
follows() { inside curl --silent --fail http://127.0.0.1:9604/readyz; }
within 20 follows
# followed FIELD VALUE: the follower's file says so.
followed() { [[ $(jq "$1" "$root/var/lib/quorate-chain/network.json") = "$2" ]]; }
within 30 followed '.keys | length' 1
followed .epoch 0 || fail "an epoch was begun before anybody did"
# The timer starts what begins the next epoch. Here it does not wait until the machine has run for two minutes.
key 4 /etc/quorate-chain/weigh-payer
mkdir "$root/etc/systemd/system/quorate-chain-weigh.timer.d"
printf '[Timer]\nOnActiveSec=1s\n' > "$root/etc/systemd/system/quorate-chain-weigh.timer.d/now.conf"
inside systemctl daemon-reload
inside systemctl enable --quiet --now quorate-chain-weigh.timer
within 60 followed .epoch 1
weighed() { [[ $(inside systemctl show --property ActiveState,Result quorate-chain-weigh | sort | xargs) = "ActiveState=inactive Result=success" ]]; }
within 20 weighed
# Once more, of an epoch that is not due: it sends nothing, and that is no failure.
inside systemctl start quorate-chain-weigh && weighed || fail "an epoch that is not due yet is a failure of the unit"
[[ $(inside systemctl show --property ExecMainStatus --value quorate-chain-weigh) = 1 ]] || fail "the epoch is due again"
followed .epoch 1 || fail "an epoch that was not due was begun"

# The watcher of another settlement, to which nothing was posted: its own file of variables comes after that of all.
(umask 077 && printf '07%.0s' {1..32} > "$root/etc/quorate-chain/payer")
mkdir "$root/etc/systemd/system/quorate-chain-watch.service.d"
printf '[Service]\nEnvironmentFile=/etc/default/quorate-chain-watch\n' > "$root/etc/systemd/system/quorate-chain-watch.service.d/other.conf"
printf 'QUORATE_CHAIN_RPC=http://127.0.0.1:8546\nQUORATE_CHAIN_CONTRACT=0x%s\n' "$(printf '0c%.0s' {1..20})" > "$root/etc/default/quorate-chain-watch"
inside systemctl daemon-reload
inside systemctl enable --quiet --now --no-block quorate-chain-watch
watches() { inside curl --silent --fail http://127.0.0.1:9605/readyz; }
within 20 watches

# A reload, and what the server says of it.
reloads() { ask http://localhost/metrics | grep -c '^quorate_reloads_total{result="applied"} 1'; }
inside systemctl reload quorate-server
within 10 reloads

# ---- The next version ----
echo '# of the operator' >> "$root/etc/default/quorate-server"
before="$(process quorate-server) $(process quorate-signer)"
follower=$(process quorate-chain-follow) worker=$(process quorate-node)
install "$version"
grep -q 'of the operator' "$root/etc/default/quorate-server" || fail "the operator's variables are gone"
within 10 ask http://localhost/readyz
# The upgrade does not wait for the signer. Without one that runs, `status` alone reads the record from the disk.
restarted() { [[ $(process quorate-server) != "${before% *}" && $(process quorate-signer) != "${before#* }" ]]; }
within 20 restarted
follows_anew() { [[ $(process quorate-chain-follow) != "$follower" ]] && follows; }
within 20 follows_anew
within 20 watches
within 30 inside runuser -u quorate -- quorate-signer status --running --data /var/lib/quorate-signer --socket /run/quorate-signer/signer.sock
works_anew() { [[ $(process quorate-node) != "$worker" ]] && works; }
within 60 works_anew
within 60 settles "$(settled)"
known=$(ask http://localhost/v1/known) || true
grep -q '[1-9]' <<< "$known" || fail "nothing is known after the upgrade"
[[ -n $record && $record = $(record) ]] || fail "another record"
for unit in quorate-server quorate-signer quorate-signer-metrics.socket quorate-node quorate-chain-follow quorate-chain-watch quorate-chain-weigh.timer; do
    inside systemctl is-active --quiet $unit || fail "$unit does not run after the upgrade"
done

# ---- Stopped, removed, purged ----
inside systemctl stop quorate-server quorate-node quorate-signer
for unit in quorate-server quorate-node quorate-signer; do
    [[ $(inside systemctl show --property Result --value $unit) = success ]] || fail "$unit did not end in order"
done
# Removal stops what still runs.
inside systemctl start quorate-server quorate-signer quorate-node
inside dpkg --remove "${programs[@]}" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for program in "${programs[@]}"; do [[ ! -e $root/usr/bin/$program ]] || fail "$program is still there"; done
for unit in quorate-{server,signer,node,chain-follow,chain-watch}.service quorate-signer-metrics.socket quorate-chain-weigh.timer; do
    [[ $(inside systemctl show --property ActiveState --value $unit) = inactive ]] || fail "$unit runs without its package"
done
[[ -n $(ls "$root/var/lib/quorate-signer") && -n $(ls "$root/var/lib/private/quorate-server") ]] || fail "removal took the data"
# Of the folders of keys, the one that the operator has emptied goes with its package.
rm "$root/etc/quorate-node/payer"
inside dpkg --purge "${programs[@]}" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for gone in var/lib/quorate-signer var/lib/quorate-server var/lib/private/quorate-server etc/default/quorate-server etc/quorate-node var/lib/quorate-node var/lib/quorate-chain-watch; do
    [[ ! -e $root/$gone && ! -L $root/$gone ]] || fail "purge left $gone"
done
[[ -e $root/etc/quorate-signer/keystore.json && -e $root/etc/quorate-chain/payer && -e $root/etc/quorate-chain/weigh-payer ]] || fail "purge took the operator's key"
echo "installed, started, upgraded, stopped, removed and purged"
