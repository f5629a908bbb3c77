#!/usr/bin/env bash
# Builds the program of cpp/. Installs a C++ compiler and OpenSSL's headers where
# they are missing and that is allowed (INSTALL=0 forbids it). The last line is the
# program, or why there is none. usage: build.sh OUT
set -uo pipefail
cd "$(dirname "$0")/cpp"
out=$1

compiler() { for c in ${CXX:-c++ g++ clang++}; do command -v "$c" && return; done; return 1; }
openssl3() { printf '#include <openssl/evp.h>\n#if OPENSSL_VERSION_NUMBER < 0x30000000L\n#error old\n#endif\n' | "$1" -x c++ -fsyntax-only - 2>/dev/null; }
install() { [ "${INSTALL:-1}" = 1 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq "$1" >/dev/null; }

cxx=$(compiler) || { install g++ && cxx=$(compiler); } || { echo "no C++ compiler, and none could be installed"; exit 1; }
openssl3 "$cxx" || { install libssl-dev && openssl3 "$cxx"; } || { echo "no headers of OpenSSL 3 (libssl-dev), and they could not be installed"; exit 1; }
# MD5(), SHA1() and SHA256() are what the pattern calls.
"$cxx" -std=c++17 -O2 -Wall -Wextra -Werror -DOPENSSL_SUPPRESS_DEPRECATED -pthread main.cc -o "$out" -lcrypto || { echo "cpp/ does not build with $cxx"; exit 1; }
echo "$out"
