// A port of loopback that is taken and refuses: bound and not listened on.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::play {

/// Holds the port for as long as it lives, so that no other process can begin to listen there meanwhile.
/// Throws std::runtime_error where there is no port.
class RefusingPort {
 public:
  RefusingPort();
  ~RefusingPort();
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;

  std::uint16_t number() const { return number_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(number_); }
  /// A socket of this process that listens on the held port;
  /// the caller closes it, and the port refuses again.
  int listen() const;

 private:
  int holder_ = -1;
  std::uint16_t number_ = 0;
};

}  // namespace reprise::play
