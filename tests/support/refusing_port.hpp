// A loopback port that is reserved but refuses connections: bound, without a listener.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::play {

/// Holds the port until it is destroyed, so that no other process can listen there. Throws std::runtime_error
/// if there is no free port.
class RefusingPort {
 public:
  RefusingPort();
  ~RefusingPort();
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;

  std::uint16_t number() const { return number_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(number_); }
  /// Makes a socket that listens on the held port. The caller owns it; once it is closed, the port refuses
  /// again.
  int listen() const;

 private:
  int holder_ = -1;
  std::uint16_t number_ = 0;
};

}  // namespace reprise::play
