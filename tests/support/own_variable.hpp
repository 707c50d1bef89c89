// An environment variable that is set for one test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace reprise::play {

/// Sets the variable, and restores its former value at destruction, because unit tests share processes.
/// Precondition: no other thread uses the environment.
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
