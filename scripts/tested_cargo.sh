#!/bin/sh
# The cargo that maturin calls in `make test`. Where maturin asks for the library of the Python package, this builds it with the features
# that the tests of the workspace were built with ($TESTED), so that it is linked with the crates that they have compiled. With its own
# features it would compile 84 of 251 units again. `make features` checks that it compiles with those.
set -eu
if [ "$1" != rustc ]; then
    exec cargo "$@"
fi
# shellcheck disable=SC2086
exec cargo build --quiet --workspace --exclude quorate-fuzz --lib --tests --locked --message-format json-render-diagnostics $TESTED
