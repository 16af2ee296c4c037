#!/usr/bin/env bash
# Installs the Debian packages in an empty Debian 12, as a stranger would: units that systemd understands, the first job of each program,
# an upgrade, removal, purge. It needs root, because it enters another root.
#
#   packaging/tests/installed.sh TREE
#
# TREE is what `packaging/programs.sh` made, or a folder with `bin` alone, to which `packaging/tree.sh` adds the rest.
# What is mounted here is mounted for this script alone.
[[ ${MOUNTS:-} = own ]] || MOUNTS=own exec unshare --mount "$0" "$@"
source "$(dirname "$0")/../common.sh"
need debootstrap debootstrap
[[ $(id -u) = 0 ]] || { echo "installed.sh enters another root, which root alone may do" >&2; exit 1; }
tree=$(realpath "$1")
work=$(mktemp -d)
root=$work/root
started=()
trap 'kill "${started[@]}" 2> /dev/null || true; umount "$root/proc" 2> /dev/null || true; rm -rf "$work"' EXIT
fail() { echo "installed: $*" >&2; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
as() { local user=$1; shift; inside setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
ms() { echo $(($(date +%s%N) / 1000000)); }
# within SECONDS COMMAND…: until it succeeds.
within() {
    local end=$((SECONDS + $1)); shift
    until "$@" > /dev/null 2>&1; do ((SECONDS < end)) || fail "not within the time: $*"; sleep 0.05; done
}

# The package before this one, as far as dpkg knows. Nobody waits for a compression here.
export LEVEL=0
VERSION=$version~before packaging/debs.sh "$tree" amd64 "$work/before"
packaging/debs.sh "$tree" amd64 "$work/now"

# The mirror and the keys that this machine itself uses.
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Release: bookworm' | head -n 1 | cut -d ' ' -f 1)
[[ -n $mirror ]] || fail "apt knows no mirror of Debian 12"
debootstrap --variant=minbase --include=systemd,curl bookworm "$root" "$mirror" > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
mount -t proc proc "$root/proc"
# Nothing starts what is installed: there is no PID 1 here.
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
cp -r examples "$root/root/examples"
mkdir "$root/packages"
cp "$work"/before/*.deb "$work"/now/*.deb "$root/packages/"
debs() { (cd "$root" && echo packages/quorate*_"$1"_amd64.deb | sed 's|packages|/packages|g'); }

begun=$(ms)
inside dpkg --install $(debs "$version~before") > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
inside quorate verify --quiet /root/examples/claims.jsonl > /dev/null || fail "the examples are not valid"
echo "installed, and a first verdict: $(($(ms) - begun)) ms"

# ---- What lies where ----
units=$(cd "$root/lib/systemd/system" && echo quorate-*.service)
said=$(inside systemd-analyze verify --man=no --recursive-errors=no $(printf '/lib/systemd/system/%s ' $units) 2>&1) || true
[[ -z $said ]] || fail "systemd-analyze verify: $said"
for unit in $units; do
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
    for _ in 1 2 3 4 5; do
        begun=$(ms)
        inside "$program" --version > /dev/null
        took=$(($(ms) - begun))
        ((took >= least)) || least=$took
    done
    echo "$program --version: $least ms"
    ((least <= 100)) || fail "$program starts in $least ms"
done
[[ $(stat -c %a "$root/etc/quorate-signer") = 700 && $(stat -c %a "$root/etc/quorate-node") = 700 ]] || fail "the folders of keys are open"
inside getent group quorate-clients > /dev/null && inside getent passwd quorate > /dev/null || fail "no users"
[[ -L $root/etc/systemd/system/multi-user.target.wants/quorate-server.service ]] || fail "the server would not start with the machine"
[[ ! -L $root/etc/systemd/system/multi-user.target.wants/quorate-signer.service ]] || fail "the signer would start without a key"

# ---- The first job of each program ----
environment() { sed -n 's/^Environment=//p' "$root/lib/systemd/system/$1.service" | sed "s|%d|/credentials|"; }
inside quorate selftest > /dev/null 2>&1 || fail "selftest"
# As systemd would: its folders, its variables, a user of its own.
inside useradd --system --gid quorate-clients stand-in
inside install -d -m 700 -o stand-in /var/lib/quorate-server
inside install -d -m 750 -o stand-in -g quorate-clients /run/quorate-server
mapfile -t variables < <(environment quorate-server)
start_server() {
    chroot "$root" /usr/bin/env -i PATH=/usr/bin "${variables[@]}" setpriv --reuid stand-in --regid quorate-clients --clear-groups \
        quorate-server --listen '' > "$work/server" 2>&1 &
    started+=($!)
    within 10 inside curl --silent --fail --unix-socket /run/quorate-server/claims.sock http://localhost/readyz
}
stop() { kill -TERM "$1"; wait "$1" || fail "ended with $?"; }
ask() {
    inside curl --silent --unix-socket /run/quorate-server/claims.sock --header 'Content-Type: application/x-ndjson' \
        --data-binary @/root/examples/claims.jsonl http://localhost/v1/verify
}
start_server
[[ $(ask | grep -c '"valid":true') = 6 ]] || fail "the server's verdicts: $(ask) $(cat "$work/server")"
stop "${started[-1]}"

inside install -d -m 700 -o quorate -g quorate /var/lib/quorate-signer /run/quorate-signer /credentials
printf 'a passphrase for this test' > "$root/credentials/passphrase"
chmod 600 "$root/credentials/passphrase"
inside quorate evm key --key-group bls12381-g2 --out /credentials/keystore --keystore --passphrase-file /credentials/passphrase > /dev/null
inside chown -R quorate:quorate /credentials
as quorate quorate-signer init --data /var/lib/quorate-signer --keystore /credentials/keystore --passphrase-file /credentials/passphrase \
    --key-group bls12381-g2 --chain-id 1 --contract 0x00000000000000000000000000000000000000aa \
    --verifier 0x00000000000000000000000000000000000000bb --operator 0x00000000000000000000000000000000000000cc \
    --genesis 1790000000 --epoch-length 3600 --slashing-window 86400 > /dev/null
mapfile -t signers < <(environment quorate-signer)
start_signer() {
    chroot "$root" /usr/bin/env -i PATH=/usr/bin "${signers[@]}" setpriv --reuid quorate --regid quorate --clear-groups quorate-signer run \
        > "$work/signer" 2>&1 &
    started+=($!)
    within 20 test -S "$root/run/quorate-signer/signer.sock"
}
record() { as quorate quorate-signer status --data /var/lib/quorate-signer --socket /run/quorate-signer/signer.sock | grep '"public_key"'; }
start_signer
record=$(record)
stop "${started[-1]}"
# Without a chain, a node and a follower say that they reach none.
! inside quorate-node status --rpc http://127.0.0.1:9 --contract 0x00000000000000000000000000000000000000aa > "$work/log" 2>&1 || fail "a node without a chain"
inside quorate-chain follow --help > /dev/null || fail "quorate-chain"

# ---- The next version ----
echo '# of the operator' >> "$root/etc/default/quorate-server"
inside dpkg --install $(debs "$version") > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
grep -q 'of the operator' "$root/etc/default/quorate-server" || fail "the operator's variables are gone"
start_server
inside curl --silent --unix-socket /run/quorate-server/claims.sock http://localhost/v1/known | grep -q '[1-9]' || fail "nothing is known after the upgrade"
stop "${started[-1]}"
start_signer
[[ -n $record && $record = $(record) ]] || fail "another record"
stop "${started[-1]}"

# ---- Removed, purged ----
touch "$root/etc/quorate-signer/keystore.json"
inside dpkg --remove "${programs[@]}" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for program in "${programs[@]}"; do [[ ! -e $root/usr/bin/$program ]] || fail "$program is still there"; done
[[ -n $(ls "$root/var/lib/quorate-signer") && -n $(ls "$root/var/lib/quorate-server") ]] || fail "removal took the data"
inside dpkg --purge "${programs[@]}" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for gone in var/lib/quorate-signer var/lib/quorate-server etc/default/quorate-server etc/quorate-node; do
    [[ ! -e $root/$gone ]] || fail "purge left $gone"
done
[[ -e $root/etc/quorate-signer/keystore.json ]] || fail "purge took the operator's key"
echo "installed, upgraded, removed and purged"
