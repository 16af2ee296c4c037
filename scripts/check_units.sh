#!/usr/bin/env bash
# Whether systemd understands every line of the units that the repository has, and of the files of variables that they read. The
# programs need not be installed: the units are read with another one in their place.
set -euo pipefail
cd "$(dirname "$0")/.."
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
