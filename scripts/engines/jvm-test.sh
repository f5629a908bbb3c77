#!/usr/bin/env bash
# Loads the C library into a JVM and sends it signals. Needs a JDK and a C
# compiler. usage: jvm-test.sh LIBDIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
command -v javac >/dev/null || { echo "NOT RUN: no JDK (javac)"; exit 0; }
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
[ -f "$home/include/jni.h" ] || { echo "NOT RUN: the JDK has no jni.h"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -shared -fPIC -O1 -Wall -Wno-unused -I"$home/include" -I"$home/include/linux" -I"$lib" "$here/jvm/host.c" -o "$work/libhost.so" -L"$lib" -larrowmask -Wl,-rpath,"$lib"
javac -d "$work" "$here/jvm/Host.java"
# With libjsig, which keeps the JVM's handlers first, and without.
for jsig in "" "$home/lib/libjsig.so"; do
  [ -z "$jsig" ] || [ -f "$jsig" ] || continue
  LD_PRELOAD=$jsig java -cp "$work" Host "$lib/libarrowmask.so" "$work/libhost.so"
done
