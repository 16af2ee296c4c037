#!/usr/bin/env bash
# Whether systemd understands every line of the units that the repository has. The programs need not be installed: the units are
# read with another one in their place.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v systemd-analyze > /dev/null || { echo "units: skipped, there is no systemd-analyze"; exit 0; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for unit in apps/*/deploy/*.service; do
    grep -q '^ExecStart=/usr/local/bin/quorate-' "$unit" || { echo "$unit does not start a program of quorate"; exit 1; }
    sed 's|=/usr/local/bin/quorate-[a-z]*|=/bin/true|' "$unit" > "$folder/${unit##*/}"
done
# What systemd does not know it says, and ends with success all the same.
said=$(systemd-analyze verify --man=no --recursive-errors=no "$folder"/*.service 2>&1) || { echo "$said"; exit 1; }
[ -z "$said" ] || { echo "$said"; exit 1; }
