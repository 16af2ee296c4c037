#!/usr/bin/env bash
# Whether systemd understands every line of the units that the repository has, and of the files of variables that they read, whether
# each unit is locked up as far as is stated here, and whether each that pays has a key of its own. The programs need not be installed:
# the units are read with another one in their place.
set -euo pipefail
cd "$(dirname "$0")/.."

# The exposure by `systemd-analyze security`, in tenths: 0 of a unit that may do nothing, 100 of one that may do everything. If a
# unit needs more, raise its number with the reason in the unit.
exposure() {
    case "$1" in
    quorate-signer.service) echo 6 ;;
    quorate-signer-metrics.service) echo 10 ;;
    quorate-chain-follow.service | quorate-chain-weigh.service | quorate-chain-watch.service) echo 13 ;;
    quorate-server.service) echo 15 ;;
    quorate-node.service) echo 17 ;;
    *) echo "$1: state in scripts/check_units.sh how exposed it may be" >&2; return 1 ;;
    esac
}

# A line that is not a variable systemd skips with a warning in its journal, and the program starts with its defaults.
for unit in apps/*/deploy/*.service; do
    if grep -n '^EnvironmentFile=.*\.toml' "$unit"; then echo "$unit: systemd reads NAME=value, and no TOML"; exit 1; fi
    for file in $(sed -n 's|^EnvironmentFile=-\{0,1\}||p' "$unit"); do
        example="${unit%/*}/${file##*/}.default"
        [ -f "$example" ] || { echo "$unit reads $file, of which there is no example $example"; exit 1; }
    done
done
for file in apps/*/deploy/*.default; do
    # Also what stands behind a comment sign, to be switched on.
    if grep -nvE '^(# .*|#?QUORATE_[A-Z_]+=.*|#?)$' "$file"; then echo "$file: these lines are not NAME=value"; exit 1; fi
done
# Two programs that send from one account disturb each other: a nonce that one takes is gone for the other.
shared=$(sed -n 's|^LoadCredential=payer:||p' apps/*/deploy/*.service | sort | uniq --repeated)
[ -z "$shared" ] || { echo "two units pay with the key in $shared"; exit 1; }
if ! command -v systemd-analyze > /dev/null; then
    [ "${CI:-}" != true ] || { echo "units: there is no systemd-analyze, and with CI=true nothing is skipped"; exit 1; }
    echo "units: skipped, there is no systemd-analyze"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for unit in apps/*/deploy/*.service; do
    grep -qE '^ExecStart=(/usr/local/bin/quorate-|/lib/systemd/systemd-socket-proxyd )' "$unit" ||
        { echo "$unit does not start a program of quorate"; exit 1; }
    sed -E 's|=(/usr/local/bin/quorate-[a-z]*\|/lib/systemd/systemd-socket-proxyd)|=/bin/true|' "$unit" > "$folder/${unit##*/}"
done
cp apps/*/deploy/*.socket apps/*/deploy/*.timer "$folder"
# What systemd does not know it says, and ends with success all the same.
said=$(systemd-analyze verify --man=no --recursive-errors=no "$folder"/* 2>&1) || { echo "$said"; exit 1; }
[ -z "$said" ] || { echo "$said"; exit 1; }
# Versions before 250 read only units that are installed.
version=$(systemd-analyze --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
if [ "$version" -lt 250 ]; then
    [ "${CI:-}" != true ] || { echo "units: systemd $version tells no exposure offline, and with CI=true nothing is skipped"; exit 1; }
    echo "exposure of units: skipped, systemd $version cannot tell it offline"
    exit 0
fi
for unit in "$folder"/*.service; do
    most=$(exposure "${unit##*/}")
    said=$(systemd-analyze security --offline=yes --no-pager --threshold="$most" "$unit" 2>&1) ||
        { echo "$said" | grep -v '✓' || true; echo "${unit##*/} is exposed more than ${most} tenths"; exit 1; }
done
echo "units: $(ls "$folder" | wc -l)"
