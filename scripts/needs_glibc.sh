# shellcheck shell=sh
# Ends the script that sources this, unless libquorate and the packages on it can be built here. With musl, rustc leaves out the libraries
# that C, Node and Java load.

rust=$("${RUSTC:-rustc}" -vV)
host=$(printf '%s\n' "$rust" | sed -n 's/^host: //p')
system=$(uname -s)
case $system/$host in
Linux/*-linux-gnu*) ;;
*)
    echo "libquorate and the packages on it need Linux with glibc, and this is $system ($host)" >&2
    exit 1
    ;;
esac
