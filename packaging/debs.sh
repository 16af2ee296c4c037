#!/usr/bin/env bash
# Debian packages of the programs in a folder that `packaging/programs.sh` made, one a program, by debhelper.
#
#   packaging/debs.sh TREE ARCHITECTURE FOLDER
source "$(dirname "$0")/common.sh"
needs debs
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
# restarts PACKAGE UNIT…: an upgrade starts again which of these run, and removal stops all units of the package. The upgrade does not wait:
# a node or a follower says that it has started when its signer and its chain's node have answered.
restarts() {
    local package=$1 all
    all=$(cd tree/lib/systemd/system && for unit in *; do [[ $(owner "$unit") != "$package" ]] || echo "$unit"; done)
    cat > "debian/$package.postinst" << END
#!/bin/sh
set -e
#DEBHELPER#
if [ "\$1" = configure ] && [ -n "\$2" ] && [ -z "\${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload || true
    systemctl --system --no-block try-restart ${@:2} || true
fi
END
    cat > "debian/$package.prerm" << END
#!/bin/sh
set -e
if [ "\$1" = remove ] && [ -z "\${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
    systemctl --system stop $(echo $all) || true
fi
#DEBHELPER#
END
}
restarts quorate-signer quorate-signer.service
restarts quorate-node quorate-node.service
# `weigh` goes on with the transactions that it has begun; its timer starts the next one.
restarts quorate-chain quorate-chain-follow.service quorate-chain-watch.service
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps --host-arch "$architecture" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cp "$work"/*.deb "$out"
