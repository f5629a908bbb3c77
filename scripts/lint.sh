#!/usr/bin/env bash
# gofmt, go vet for every architecture that is built, staticcheck, shell syntax.
set -euo pipefail
cd "$(dirname "$0")/.."
fail=0

unformatted=$(git ls-files '*.go' | xargs -r gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'gofmt: not formatted:\n%s\n' "$unformatted"
  fail=1
fi

# The portable packages are vetted where offsets and ints have other sizes; the
# whole tree where people run it.
for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
  echo "vet $target"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || fail=1
done
for target in linux/386 linux/s390x; do
  echo "vet $target (portable packages)"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./kernels/... ./hexenc/... ./internal/asciimask/... ./internal/blake2b/... ./fips/... ./mask/... || fail=1
done
echo "vet linux/amd64 -tags purego,noasm"
go vet -tags purego,noasm ./... || fail=1
# Without a C compiler bench's DuckDB is left out.
echo "vet bench"
(cd bench && go vet ./...) || fail=1

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
if go run "$staticcheck" -version >/dev/null 2>&1; then
  echo staticcheck
  go run "$staticcheck" ./... || fail=1
  (cd bench && go run "$staticcheck" ./...) || fail=1
else
  echo "NOT RUN: staticcheck ($staticcheck could not be had from the Go module proxy)"
fi

for script in $(git ls-files "*.sh") .ci/run; do
  bash -n "$script" || fail=1
done
exit $fail
