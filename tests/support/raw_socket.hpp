// A blocking TCP socket for tests: sends and receives raw bytes. Every wait is bounded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace reprise::play {

/// State of a connection after reads.
enum class Wire : std::uint8_t {
  open,   ///< neither FIN nor a reset was received
  fin,    ///< the peer sent FIN
  reset,  ///< the peer sent a reset
};

/// Owns a socket. Used by one thread, except that another thread may call wake(). No call throws. No call
/// waits longer than `patience`, which is far above what any test needs, even on a slow machine.
class RawSocket {
 public:
  static constexpr std::chrono::milliseconds patience = std::chrono::minutes(2);

  RawSocket() = default;
  explicit RawSocket(int descriptor);
  RawSocket(RawSocket&& other) noexcept;
  RawSocket& operator=(RawSocket&& other) noexcept;
  ~RawSocket();

  /// Connects to 127.0.0.1. The result is not open if that fails.
  static RawSocket connect_to(std::uint16_t port);
  /// Makes a socket that has a descriptor but is not connected, for tests in which no descriptor is free
  /// later.
  static RawSocket unconnected();
  /// Connects to 127.0.0.1. Closes the socket and returns false if that fails.
  bool connect(std::uint16_t port);

  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Returns false if not all bytes could be sent.
  bool send(std::string_view bytes);
  /// Sends each byte on its own, without Nagle's delay.
  bool send_bytewise(std::string_view bytes);

  /// Appends the next bytes to `received`, and waits for them if needed. Returns false after FIN or a reset,
  /// or if the time `limit` passes first.
  bool read_more(std::chrono::milliseconds limit = patience);
  /// Reads until `received` contains `text`. Returns false if the connection ends or the limit passes first.
  bool read_until(std::string_view text, std::chrono::milliseconds limit = patience);
  /// Reads until `received` has this many bytes. Returns false if the connection ends or the limit passes
  /// first.
  bool read_bytes(std::size_t bytes, std::chrono::milliseconds limit = patience);
  /// Reads to the end of the connection. Returns how it ended; `open` if the limit passed first.
  Wire read_to_end(std::chrono::milliseconds limit = patience);
  Wire wire() const { return wire_; }

  /// Returns the number of sent bytes that the peer's kernel has not acknowledged.
  std::size_t unacknowledged() const;

  /// Returns the bytes that were received but not yet removed by `take` or `take_all`.
  const std::string& received() const { return received_; }
  std::string take(std::size_t bytes);
  std::string take_all() { return take(received_.size()); }

  void finish_sending();
  /// Discards everything that the peer sends from now on, without an acknowledgement, as if this host had
  /// disappeared. Bytes sent from this end still arrive.
  void vanish() const;
  /// Closes with a reset (RST).
  void reset();
  void close();
  /// Ends a waiting call of the owner's thread. Called by another thread.
  void wake();

 private:
  bool wait_for(short events, std::chrono::milliseconds limit) const;

  std::mutex closing_;  // held by wake() and close(), because a closed descriptor may be reused at once
  int descriptor_ = -1;
  std::string received_;
  Wire wire_ = Wire::open;
};

/// Sleeps briefly between two checks of a condition.
void yield_a_moment();

/// Polls until `holds` returns true. Returns false after `RawSocket::patience`.
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
