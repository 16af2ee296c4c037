#!/usr/bin/env bash
# Puts beside FOLDER/bin what belongs to its programs: man pages, completions, units of systemd, the documents and the licences.
#
#   packaging/tree.sh FOLDER
#
# EMULATOR is what starts its programs, if they are for another CPU and the kernel does not start an emulator by itself.
source "$(dirname "$0")/common.sh"
tree=$1
share=$tree/share doc=$tree/share/doc/quorate units=$tree/lib/systemd/system
mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d} "$doc" "$units"
run=${EMULATOR:-}
for path in "$tree"/bin/*; do
    program=${path##*/}
    $run "$path" man --into "$share/man/man1"
    $run "$path" completions bash > "$share/bash-completion/completions/$program"
    $run "$path" completions zsh > "$share/zsh/site-functions/_$program"
    $run "$path" completions fish > "$share/fish/vendor_completions.d/$program.fish"
    for unit in apps/"$program"/deploy/*.{service,socket,timer}; do
        [[ ! -e $unit ]] || sed 's|/usr/local/bin/|/usr/bin/|' "$unit" > "$units/${unit##*/}"
    done
done
gzip -9 --no-name --force "$share"/man/man1/*.1
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md SECURITY.md "$doc"
[[ ! -e ${LICENCES:-} ]] || cp "$LICENCES" "$doc/LICENCES-OF-DEPENDENCIES.html"
