// The functions that are timed, and what each needs of OpenSSL.
#pragma once

#include <openssl/evp.h>

#include <cstring>
#include <stdexcept>
#include <string>

enum class Function { kSha256, kSha512, kSha1, kMd5, kMaskHash };

struct Digest {
  const char* name;     // in commands
  Function function;
  const char* fetched;  // the name that a provider knows the digest by
  size_t size;          // bytes
};

constexpr Digest kDigests[] = {
    {"sha256", Function::kSha256, "SHA2-256", 32},
    {"sha512", Function::kSha512, "SHA2-512", 64},
    {"sha1", Function::kSha1, "SHA1", 20},
    {"md5", Function::kMd5, "MD5", 16},
    {"mask_hash", Function::kMaskHash, "SHA2-256", 32},
};

inline const Digest& digest_of(const std::string& name) {
  for (const Digest& d : kDigests)
    if (name == d.name) return d;
  throw std::runtime_error("no such function");
}
