// A column of text: one buffer of bytes and the offset of every row in it, as in
// Arrow. The file is two int64 (rows, bytes), the offsets (int32, one more than
// rows) and the bytes, all little-endian.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

class Column {
 public:
  explicit Column(const std::string& path) {
    std::FILE* f = std::fopen(path.c_str(), "rb");
    if (f == nullptr) throw std::runtime_error("cannot open the column");
    int64_t sizes[2] = {};
    read(f, sizes, sizeof sizes);
    offsets_.resize(sizes[0] + 1);
    data_.resize(sizes[1]);
    read(f, offsets_.data(), offsets_.size() * sizeof(int32_t));
    read(f, data_.data(), data_.size());
    std::fclose(f);
  }

  size_t rows() const { return offsets_.size() - 1; }

  std::string_view row(size_t i) const {
    return {data_.data() + offsets_[i], static_cast<size_t>(offsets_[i + 1] - offsets_[i])};
  }

 private:
  static void read(std::FILE* f, void* to, size_t n) {
    if (std::fread(to, 1, n, f) != n) throw std::runtime_error("the column is cut short");
  }

  std::vector<int32_t> offsets_;
  std::vector<char> data_;
};
