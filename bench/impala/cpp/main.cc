// Times a row function over a column, on command. Commands come on standard
// input, a line each; every line of the answer starts with "ok" or "error":
//
//   load COLUMN PATH                           reads a column
//   run SIDE FUNCTION COLUMN THREADS ROWS      -> ok NANOSECONDS
//   out PATH                                   writes the digests of the latest run
//
// Threads share the first ROWS rows evenly. The time is from letting them all go
// to the end of the last; making them is not in it.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "after.h"
#include "before.h"
#include "column.h"
#include "digests.h"

using Clock = std::chrono::steady_clock;

// Gate holds threads back until all are there.
class Gate {
 public:
  explicit Gate(int threads) : missing_(threads) {}

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) arrived_.notify_one();
    opened_.wait(lock, [this] { return open_; });
  }

  Clock::time_point open() {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [this] { return missing_ == 0; });
    open_ = true;
    opened_.notify_all();
    return Clock::now();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_, opened_;
  int missing_;
  bool open_ = false;
};

template <class Row>
int64_t timed(Row& row, size_t stride, const Column& column, int threads, size_t rows, char* out) {
  Gate gate(threads);
  std::vector<std::thread> workers;
  std::vector<Clock::time_point> ends(threads);
  std::vector<std::exception_ptr> failures(threads);
  for (int t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      const size_t from = rows * t / threads, to = rows * (t + 1) / threads;
      gate.wait();
      try {
        for (size_t i = from; i < to; i++) row.row(column.row(i), out + stride * i);
      } catch (...) {
        failures[t] = std::current_exception();
      }
      ends[t] = Clock::now();
    });
  }
  const Clock::time_point start = gate.open();
  for (std::thread& w : workers) w.join();
  for (const std::exception_ptr& e : failures)
    if (e) std::rethrow_exception(e);
  Clock::time_point end = start;
  for (const Clock::time_point& t : ends) end = std::max(end, t);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
}

class Program {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "load") return load(words);
    if (command == "run") return run(words);
    if (command == "out") return write(words);
    throw std::runtime_error("no such command");
  }

 private:
  std::string load(std::istringstream& words) {
    std::string name, path;
    words >> name >> path;
    columns_.insert_or_assign(name, Column(path));
    return "ok";
  }

  std::string run(std::istringstream& words) {
    std::string side, function, name;
    int threads = 0;
    size_t rows = 0;
    words >> side >> function >> name >> threads >> rows;
    const auto column = columns_.find(name);
    if (!words || column == columns_.end() || threads < 1 || rows > column->second.rows())
      throw std::runtime_error("run wants SIDE FUNCTION COLUMN THREADS ROWS");
    const Digest& d = digest_of(function);
    const size_t stride = 2 * d.size;
    size_ = stride * rows;
    if (out_.size() < size_) out_.resize(size_);
    int64_t ns = 0;
    if (side == "impala-before") {
      Before row(d);
      ns = timed(row, stride, column->second, threads, rows, out_.data());
    } else if (side == "impala-after") {
      After row(d);
      ns = timed(row, stride, column->second, threads, rows, out_.data());
    } else {
      throw std::runtime_error("no such side");
    }
    return "ok " + std::to_string(ns);
  }

  std::string write(std::istringstream& words) {
    std::string path;
    words >> path;
    std::FILE* f = std::fopen(path.c_str(), "wb");
    if (f == nullptr) throw std::runtime_error("cannot write the digests");
    const bool whole = std::fwrite(out_.data(), 1, size_, f) == size_;
    if (std::fclose(f) != 0 || !whole) throw std::runtime_error("cannot write the digests");
    return "ok";
  }

  std::map<std::string, Column> columns_;
  std::vector<char> out_;
  size_t size_ = 0;
};

int main() {
  std::ios::sync_with_stdio(false);
  for (const char* side : {"impala-before", "impala-after"}) {
    std::cout << "side " << side;
    for (const Digest& d : kDigests) std::cout << " " << d.name;
    std::cout << "\n";
  }
  std::cout << "ready " << OpenSSL_version(OPENSSL_VERSION) << std::endl;
  Program program;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << program.answer(line) << std::endl;
    } catch (const std::exception& e) {
      std::cout << "error " << e.what() << std::endl;
    }
  }
}
