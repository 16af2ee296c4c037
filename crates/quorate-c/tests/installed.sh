#!/usr/bin/env bash
# A folder that scripts/c_library.sh made, as people use it: by pkg-config, by CMake, with the static library and with the shared one.
#
#   crates/quorate-c/tests/installed.sh FOLDER [few]
#
# With `few` valgrind runs the two claims of guide.c: with a library that is not optimised, all of library.c takes minutes.
set -euo pipefail
sources=$(cd "$(dirname "$0")/c" && pwd)
folder=$(cd "$1" && pwd) mode=${2:-all}
export PKG_CONFIG_PATH=$folder/lib/pkgconfig
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=(${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror -pedantic)

for licence in LICENSE-APACHE LICENSE-MIT; do
  [[ -s $folder/$licence ]] || { echo "$folder has no $licence"; exit 1; }
done
[[ ! -e ${LICENCES:-} ]] || cmp "$LICENCES" "$folder/LICENCES-OF-DEPENDENCIES.html"

# The library shows its own names alone.
foreign=$(nm --defined-only --extern-only "$folder/lib/libquorate.a" | awk 'NF == 3 && $3 !~ /^quorate_/ { print $3 }')
[[ -z $foreign ]] || { echo "libquorate.a also shows: $foreign"; exit 1; }
foreign=$(nm --dynamic --defined-only "$folder/lib/libquorate.so" | awk '$3 !~ /^quorate_/ { print $3 }')
[[ -z $foreign ]] || { echo "libquorate.so also shows: $foreign"; exit 1; }

# shellcheck disable=SC2046
"${cc[@]}" "$sources/library.c" $(pkg-config --cflags --libs quorate) -lpthread -o "$work/shared"
LD_LIBRARY_PATH=$folder/lib "$work/shared"

mkdir "$work/cmake"
series=$(pkg-config --modversion quorate | cut -d . -f 1-2)
cat > "$work/cmake/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.16)
project(installed C)
find_package(quorate $series REQUIRED)
find_package(Threads REQUIRED)
add_executable(library "$sources/library.c")
target_link_libraries(library quorate::static Threads::Threads)
add_executable(calls "$sources/calls.c")
target_link_libraries(calls quorate::static)
END
cmake -S "$work/cmake" -B "$work/built" -DCMAKE_PREFIX_PATH="$folder" -DCMAKE_BUILD_TYPE=Release > "$work/log" \
  && cmake --build "$work/built" >> "$work/log" || { cat "$work/log"; exit 1; }
"$work/built/library"
# The very version, and another one.
version=$(pkg-config --modversion quorate)
sed -i "s/find_package(quorate $series /find_package(quorate $version EXACT /" "$work/cmake/CMakeLists.txt"
cmake -S "$work/cmake" -B "$work/exact" -DCMAKE_PREFIX_PATH="$folder" > "$work/log" 2>&1 \
  || { echo "CMake does not take the library for its very version:"; cat "$work/log"; exit 1; }
sed -i "s/find_package(quorate $version EXACT /find_package(quorate $series.9999 EXACT /" "$work/cmake/CMakeLists.txt"
! cmake -S "$work/cmake" -B "$work/other" -DCMAKE_PREFIX_PATH="$folder" > "$work/log" 2>&1 \
  || { echo "CMake takes the library for version $series.9999:"; cat "$work/log"; exit 1; }
# An earlier minor version may have had another interface.
sed -i "s/find_package(quorate $series.9999 EXACT /find_package(quorate 0.0 /" "$work/cmake/CMakeLists.txt"
! cmake -S "$work/cmake" -B "$work/earlier" -DCMAKE_PREFIX_PATH="$folder" > "$work/log" 2>&1 \
  && grep -q 'compatible with requested version "0.0"' "$work/log" \
  || { echo "CMake takes the library for version 0.0:"; cat "$work/log"; exit 1; }
"$work/built/calls" 100000

if command -v valgrind > /dev/null; then
  # It takes fifty times as long, and more on a backend with lanes.
  static=("$folder/lib/libquorate.a" -lpthread -ldl -lm -lgcc_s)
  if [[ $mode = few ]]; then
    "${cc[@]}" -I "$folder/include" "$sources/guide.c" "${static[@]}" -o "$work/few"
  else
    "${cc[@]}" -DCOUNT=16 -DBACKEND='"portable"' -I "$folder/include" "$sources/library.c" "${static[@]}" -o "$work/few"
  fi
  valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "$work/few"
elif [[ ${CI:-} = true ]]; then
  echo "There is no valgrind, with which the library is tested"; exit 1
else
  echo "valgrind: skipped, it is not installed"
fi
