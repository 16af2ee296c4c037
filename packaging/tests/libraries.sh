#!/usr/bin/env bash
# The packages for other languages of a release have what a stranger needs: the native library for this CPU, quorate's licences and those of what
# is linked in. The npm package is installed and loaded, and Python loads the wheel.
#
#   packaging/tests/libraries.sh FOLDER        where FOLDER is what `packaging/dist.sh` made
source "$(dirname "$0")/../common.sh"
folder=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "libraries: $*" >&2; exit 1; }
cpu=$(uname -m)
case $cpu in x86_64) go=amd64 node=x64 ;; aarch64) go=arm64 node=arm64 ;; *) fail "$cpu: nothing is built for it" ;; esac
all=LICENCES-OF-DEPENDENCIES.html
# has ARCHIVE PATH…: each is in it, and the licences of what is linked in are those of the release.
has() {
    local archive=$1 path
    mkdir "$work/${archive##*/}"
    case $archive in
    *.tgz | *.tar.gz) tar --extract --gzip --file "$archive" --directory "$work/${archive##*/}" ;;
    *) "${PYTHON:-python3}" -m zipfile --extract "$archive" "$work/${archive##*/}" ;;
    esac
    for path in "${@:2}"; do
        [[ -s $work/${archive##*/}/$path ]] || fail "$archive has no $path"
        [[ ${path##*/} != "$all" ]] || cmp "$folder/quorate-$version-licences.html" "$work/${archive##*/}/$path"
    done
}
top=libquorate-$version-$cpu
has "$folder/$top.tar.gz" "$top"/{lib/libquorate.a,lib/libquorate.so,include/quorate.h,LICENSE-MIT,LICENSE-APACHE,$all}
top=quorate-$version-go
has "$folder/$top.tar.gz" "$top"/{go.mod,eth/eth.go,"lib/linux_$go/libquorate.a",include/quorate.h,LICENSE-MIT,LICENSE-APACHE,$all}
has "$folder/quorate-$version-npm.tgz" package/{package.json,index.js,"quorate.linux-$node-gnu.node",LICENSE-MIT,LICENSE-APACHE,$all}
has "$folder/quorate-$version.jar" "io/quorate/native/linux-$cpu/libquorate_java_binding.so" META-INF/{LICENSE-MIT,LICENSE-APACHE,$all}
has "$folder/quorate-$version-sources.jar" io/quorate/Verifier.java
has "$folder/quorate-$version-javadoc.jar" index.html
wheels=("$folder"/quorate-"$version"-*"$cpu".whl)
((${#wheels[@]} == 1)) && [[ -e ${wheels[0]} ]] || fail "there is not one wheel for $cpu: ${wheels[*]}"
info=quorate-$version.dist-info
has "${wheels[0]}" "$info"/{METADATA,licenses/LICENSE-MIT,licenses/LICENSE-APACHE,licenses/$all}
for file in "$folder"/*; do
    [[ -d $file || ${file##*/} = SHA256SUMS ]] || grep -q "  ${file##*/}\$" "$folder/SHA256SUMS" || fail "SHA256SUMS does not name ${file##*/}"
done

(cd "$work" && npm install --silent --no-audit --no-fund "$folder/quorate-$version-npm.tgz" && node --eval 'require("quorate")') ||
    fail "the npm package does not load"
PYTHONPATH=$work/${wheels[0]##*/} "${PYTHON:-python3}" -c 'import quorate' || fail "the wheel does not load"
echo "the packages for other languages have their libraries and licences, and load"
