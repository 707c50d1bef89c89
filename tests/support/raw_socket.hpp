// A blocking TCP socket for tests that shows what is on the wire: raw bytes in and out, every wait bounded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace reprise::play {

/// How a connection stands after reading from it.
enum class Wire : std::uint8_t {
  open,   ///< nothing came within the limit
  fin,    ///< the peer closed in order
  reset,  ///< the peer cut
};

/// Owns a connected socket. Used by one thread, but `wake` may come from another. No call throws; none waits
/// longer than `patience`, which is far above what any test needs, so that a slow machine fails no test.
class RawSocket {
 public:
  static constexpr std::chrono::milliseconds patience = std::chrono::minutes(2);

  RawSocket() = default;
  explicit RawSocket(int descriptor);
  RawSocket(RawSocket&& other) noexcept;
  RawSocket& operator=(RawSocket&& other) noexcept;
  ~RawSocket();

  /// To 127.0.0.1; not open if it fails.
  static RawSocket connect_to(std::uint16_t port);
  /// Has its descriptor before it is connected, for a time when there is none to be had.
  static RawSocket unconnected();
  /// To 127.0.0.1; false, and closed, if it fails.
  bool connect(std::uint16_t port);

  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// False if the peer did not take everything.
  bool send(std::string_view bytes);
  /// One send per byte, without Nagle's delay.
  bool send_bytewise(std::string_view bytes);

  /// What lies at hand or comes next, appended to `received`; false at the end, a reset, or the limit.
  bool read_more(std::chrono::milliseconds limit = patience);
  /// Reads until `received` holds `text`; false if it never does.
  bool read_until(std::string_view text, std::chrono::milliseconds limit = patience);
  /// Reads until that many bytes were received and not yet taken.
  bool read_bytes(std::size_t bytes, std::chrono::milliseconds limit = patience);
  /// Reads to the end of the connection and says what it was.
  Wire read_to_end(std::chrono::milliseconds limit = patience);
  Wire wire() const { return wire_; }

  /// Bytes that were sent and are not yet in the peer's kernel.
  std::size_t unacknowledged() const;

  /// What was received and not taken.
  const std::string& received() const { return received_; }
  std::string take(std::size_t bytes);
  std::string take_all() { return take(received_.size()); }

  void finish_sending();
  /// From now on what the peer sends is swallowed without a word, as by a host that is gone: nothing of it is
  /// acknowledged. What this end sends still arrives.
  void vanish() const;
  /// RST.
  void reset();
  void close();
  /// Ends a call that waits, from another thread.
  void wake();

 private:
  bool wait_for(short events, std::chrono::milliseconds limit) const;

  std::mutex closing_;  // a descriptor that is closed may be another's at once: `wake` must not meet that
  int descriptor_ = -1;
  std::string received_;
  Wire wire_ = Wire::open;
};

/// Lets other threads work for a moment between two looks at a condition.
void yield_a_moment();

/// Polls until `holds` does; false after `RawSocket::patience`.
template <typename Condition>
bool eventually(Condition holds) {
  const auto limit = std::chrono::steady_clock::now() + RawSocket::patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    yield_a_moment();
  }
  return true;
}

}  // namespace reprise::play
