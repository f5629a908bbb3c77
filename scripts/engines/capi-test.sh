#!/usr/bin/env bash
# Builds the C library and runs the C driver against it: plain, and under
# AddressSanitizer and LeakSanitizer. Needs Go and gcc or clang.
# usage: capi-test.sh LIBDIR [CALLS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
calls=${2:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # build NAME FLAGS...
  local name=$1
  shift
  ${CC:-cc} -std=gnu11 -g -O1 -Wall -Wextra -Werror "$@" -I"$lib" "$here/cdriver.c" -o "$work/$name" -L"$lib" -larrowmask -Wl,-rpath,"$lib" -pthread
}

# C and C++ callers can use the header.
printf '#include "arrowmask.h"\nint main() { return arrowmask_abi_version() != ARROWMASK_ABI_VERSION; }\n' >"$work/header.cc"
if command -v "${CXX:-c++}" >/dev/null; then
  ${CXX:-c++} -Wall -Wextra -Werror -pedantic -I"$lib" "$work/header.cc" -o "$work/header" -L"$lib" -larrowmask -Wl,-rpath,"$lib"
  "$work/header"
else
  echo "NOT RUN: the header in C++ (no C++ compiler)"
fi

# The program of the documentation.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$here/../../doc/engines.md" >"$work/doc.c"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -I"$lib" "$work/doc.c" -o "$work/doc" -L"$lib" -larrowmask -Wl,-rpath,"$lib"
[ "$("$work/doc")" = ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ] || { echo "the C program of doc/engines.md prints something else"; exit 1; }

build plain
echo "C driver"
"$work/plain" "$calls"

if build asan -fsanitize=address -fno-omit-frame-pointer 2>"$work/log"; then
  # Go handles SIGSEGV itself; ASan's handler must not take its place.
  export ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=1:allocator_may_return_null=1
  echo "C driver, AddressSanitizer and LeakSanitizer"
  "$work/asan" "$calls"
else
  cat "$work/log"
  echo "NOT RUN: the compiler has no AddressSanitizer"
  exit 1
fi

# The C half of the DuckDB extension, with DuckDB and Go played by the driver.
echo "DuckDB driver, AddressSanitizer and UndefinedBehaviorSanitizer"
cat >"$work/_cgo_export.h" <<'EOF'
#include "bridge.h"
int am_go_duckdb_new(char *, arrowmask_handle *);
int am_go_duckdb_call(arrowmask_handle, char *, uint32_t, char *, uint32_t, struct am_duckdb_chunk *, char **);
EOF
${CC:-cc} -std=gnu11 -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover -I"$work" -I"$here/../../arrowudf/capi" "$here/duckdb/driver.c" -o "$work/duckdb" -pthread
"$work/duckdb"
