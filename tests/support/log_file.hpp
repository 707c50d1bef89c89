// A log file in memory, for the output of a running proxy.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace reprise::play {

/// Pass the descriptor of this file as `Wishes::log_descriptor`. The file must outlive the proxy.
class LogFile {
 public:
  LogFile() : descriptor_(::memfd_create("log", MFD_CLOEXEC)) {}
  ~LogFile() { ::close(descriptor_); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string all(1 << 20, '\0');
    const auto bytes = ::pread(descriptor_, all.data(), all.size(), 0);
    all.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return all;
  }
  bool says(std::string_view words, int times = 1) const {
    int found = 0;
    const std::string all = text();
    for (auto at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++found;
    return found >= times;
  }

 private:
  int descriptor_;
};

}  // namespace reprise::play
