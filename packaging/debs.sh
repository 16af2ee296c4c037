#!/usr/bin/env bash
# Debian packages of the programs in a folder that `packaging/programs.sh` made, one a program, by debhelper.
#
#   packaging/debs.sh TREE ARCHITECTURE FOLDER
source "$(dirname "$0")/common.sh"
need dh debhelper
tree=$(realpath "$1") architecture=$2
mkdir -p "$3"
out=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/quorate"
cp -r packaging/debian "$work/quorate/debian"
cp -r "$tree" "$work/quorate/tree"
mkdir "$work/quorate/tree/default"
for file in apps/*/deploy/*.default; do
    name=${file##*/}
    cp "$file" "$work/quorate/tree/default/${name%.default}"
done
cd "$work/quorate"
maintainer="The quorate developers <packages@quorate.invalid>"
sed -i "s|@MAINTAINER@|$maintainer|; s|@REPOSITORY@|$repository|" debian/control debian/copyright
cat > debian/changelog << END
quorate ($version) unstable; urgency=medium

  * What changed: $repository/blob/v$version/CHANGELOG.md

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
# The package of a file is the longest of their names that the file's name begins with.
owner() {
    local name=${1##*/} found=quorate
    for program in "${programs[@]:1}"; do [[ $name != "$program"[.-]* ]] || found=$program; done
    echo "$found"
}
# What lies where is the tree's own order, below /usr; units lie where Debian 12 looks for them.
for program in "${programs[@]}"; do
    {
        echo "tree/bin/$program usr/bin"
        echo "tree/share/bash-completion/completions/$program usr/share/bash-completion/completions"
        echo "tree/share/zsh/site-functions/_$program usr/share/zsh/vendor-completions"
        echo "tree/share/fish/vendor_completions.d/$program.fish usr/share/fish/vendor_completions.d"
        for file in tree/share/doc/quorate/*; do echo "$file usr/share/doc/$program"; done
    } > "debian/$program.install"
done
for page in tree/share/man/man1/*; do echo "$page usr/share/man/man1" >> "debian/$(owner "$page").install"; done
for unit in tree/lib/systemd/system/*; do echo "$unit lib/systemd/system" >> "debian/$(owner "$unit").install"; done
for file in tree/default/*; do echo "$file etc/default" >> "debian/${file##*/}.install"; done
for program in quorate-signer quorate-node quorate-chain; do echo "etc/$program" > "debian/$program.dirs"; done
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps --host-arch "$architecture" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cp "$work"/*.deb "$out"
