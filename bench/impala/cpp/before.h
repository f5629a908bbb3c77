// The row function as IMPALA-15424 found it. Every row asks whether the FIPS
// property is set, lets OpenSSL look the digest up by its old handle (and make a
// context), writes hexadecimal through a stream of its own, copies the text into
// the result, and copies it again in lower case. Failures are not looked at.
#pragma once

#include <openssl/md5.h>
#include <openssl/sha.h>

#include <cctype>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>

#include "digests.h"

class Before {
 public:
  explicit Before(const Digest& d) : digest_(d) {}

  // row writes 2 * size characters at out.
  void row(std::string_view in, char* out) {
    unsigned char md[EVP_MAX_MD_SIZE];
    if (EVP_default_properties_is_fips_enabled(nullptr) && digest_.function == Function::kMd5) return;
    compute(in, md);

    std::stringstream hex;
    hex << std::hex << std::uppercase << std::setfill('0');
    for (size_t i = 0; i < digest_.size; i++) hex << std::setw(2) << static_cast<int>(md[i]);
    const std::string text = hex.str();

    char upper[2 * EVP_MAX_MD_SIZE];
    std::memcpy(upper, text.data(), text.size());
    for (size_t i = 0; i < text.size(); i++) out[i] = static_cast<char>(std::tolower(upper[i]));
  }

 private:
  void compute(std::string_view in, unsigned char* md) {
    const auto* data = reinterpret_cast<const unsigned char*>(in.data());
    unsigned int n = 0;
    switch (digest_.function) {
      case Function::kSha256: EVP_Digest(data, in.size(), md, &n, EVP_sha256(), nullptr); break;
      case Function::kSha512: EVP_Digest(data, in.size(), md, &n, EVP_sha512(), nullptr); break;
      case Function::kSha1: SHA1(data, in.size(), md); break;
      case Function::kMd5: MD5(data, in.size(), md); break;
      case Function::kMaskHash: SHA256(data, in.size(), md); break;
    }
  }

  const Digest& digest_;
};
