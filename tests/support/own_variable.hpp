// A variable of the environment for one test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace reprise::play {

/// Has a value of the test's own for as long as it lives; then what was before. Unit tests share processes.
/// For one thread.
class OwnVariable {
 public:
  OwnVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ~OwnVariable() { before_ ? set(*before_) : static_cast<void>(::unsetenv(name_)); }
  OwnVariable(const OwnVariable&) = delete;
  OwnVariable& operator=(const OwnVariable&) = delete;

  void set(const std::string& value) { ::setenv(name_, value.c_str(), 1); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace reprise::play
