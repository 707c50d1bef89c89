// The category of the error codes of one enumeration, so that these codes are used together with socket
// errors.
#pragma once

#include "proxy/net/io/task.hpp"

namespace reprise::net {

// GCC warns here because the destructor of Boost's error_category is protected and not virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
/// `words` returns the text of an error code; it is a static text.
template <typename Error>
class ErrorCategory final : public boost::system::error_category {
 public:
  constexpr ErrorCategory(const char* name, const char* (*words)(Error)) : name_(name), words_(words) {}

  const char* name() const noexcept override { return name_; }
  std::string message(int value) const override { return words_(static_cast<Error>(value)); }

 private:
  const char* name_;
  const char* (*words_)(Error);
};
#pragma GCC diagnostic pop

}  // namespace reprise::net
