#!/usr/bin/env bash
# Builds the C library: out/libarrowmask.so (or .dylib), out/arrowmask.h, and the
# same library under the name that DuckDB loads: out/arrowmask.duckdb_extension.
# Needs Go and a C compiler. usage: scripts/capi.sh [OUTDIR]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out}
cc=$(go env CC)
command -v "${cc%% *}" >/dev/null || { echo "NOT RUN: no C compiler ($cc)"; exit 1; }
case $(go env GOOS) in
darwin) lib=libarrowmask.dylib ;;
windows) lib=arrowmask.dll ;;
*) lib=libarrowmask.so ;;
esac
version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
mkdir -p "$out"
CGO_ENABLED=1 go build -buildmode=c-shared -ldflags "-s -w -X main.version=$version" -o "$out/$lib" ./arrowudf/capi
# cgo writes a header of its own, of functions that are not for callers.
rm -f "$out/${lib%.*}.h"
cp arrowudf/capi/arrowmask.h "$out/arrowmask.h"

scripts/capi-duckdb-footer.sh "$out/$lib" "$version" v1.2.0
# One file of two names, so that a process that uses both loads it once.
ln -f "$out/$lib" "$out/arrowmask.duckdb_extension" 2>/dev/null || cp "$out/$lib" "$out/arrowmask.duckdb_extension"
echo "$out/$lib"
