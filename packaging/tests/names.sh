#!/usr/bin/env bash
# A program that is linked as packaging/programs.sh links those of a release loads no service of names that this machine is set to use; one
# without names.c does. It needs root, which alone may hide a file below another.
source "$(dirname "$0")/../common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A service that ends whoever loads it.
cc -shared -fPIC -x c -o "$work/libnss_fake.so.2" - <<'C'
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) { _exit(7); }
C
printf '%s: fake files\n' hosts passwd > "$work/nsswitch.conf"
cc -O2 -c -o "$work/names.o" packaging/names.c
cat > "$work/asks.rs" <<'RUST'
fn main() {
    let addresses = std::net::ToSocketAddrs::to_socket_addrs("localhost:80").map(|found| found.count());
    assert!(addresses.is_ok_and(|found| found > 0) && std::env::home_dir().is_some());
}
RUST
# asks FLAG…: how the program ends that is linked with these.
asks() {
    rustc --edition 2024 -Ctarget-feature=+crt-static "$@" -o "$work/asks" "$work/asks.rs" 2> "$work/errors" || { cat "$work/errors" >&2; exit 1; }
    local ended=0
    unshare --mount sh -c 'mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && exec env --unset HOME LD_LIBRARY_PATH="$0" "$0/asks"' \
        "$work" || ended=$?
    echo "$ended"
}
[[ $(asks) = 7 ]] || { echo "names.sh: the service was not loaded, so this test shows nothing" >&2; exit 1; }
[[ $(asks "-Clink-arg=$work/names.o") = 0 ]] || { echo "names.sh: a service of the machine was loaded, or a name not found" >&2; exit 1; }
echo "a program of a release resolves names without the services of the machine"
