#!/bin/sh
# gen.sh writes every generated file of kernels/, hexenc/, internal/asciimask/ and
# internal/blake2b/ afresh. Usage:
#   _asm/gen.sh [DIR]      DIR is the root of the tree to write to, by default this one
set -eu
cd "$(dirname "$0")"
root=$(cd "${1:-..}" && pwd)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/asm" .
for k in $("$bin/asm" -kernel list); do
	pkg=kernels
	case $k in
	hex_*) pkg=hexenc ;;
	asciimask_*) pkg=internal/asciimask ;;
	blake2b_*) pkg=internal/blake2b ;;
	esac
	mkdir -p "$root/$pkg"
	(cd "$root/$pkg" && PATH="$bin:$PATH" asm -kernel "$k" -pkg "${pkg##*/}" -out "${k}_amd64.s" -stubs "${k}_amd64.go")
done
