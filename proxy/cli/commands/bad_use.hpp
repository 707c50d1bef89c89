// The exception for a wrong command line.
#pragma once

#include <stdexcept>

namespace reprise::cli {

/// Thrown for a wrong command line. The message is one sentence without a full stop.
class BadUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace reprise::cli
