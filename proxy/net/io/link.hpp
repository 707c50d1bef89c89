// The interface of a connection that is not a plain socket, as Stream uses it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/io/outflow.hpp"
#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// Result of peeking at a connection's unread bytes.
enum class Unread : std::uint8_t {
  nothing,  ///< open, no bytes waiting
  bytes,
  closed,  ///< FIN or an error, with no bytes before it
};

/// Whether the other side still sends. A FIN is detected even if the bytes before it are unread.
enum class Presence : std::uint8_t { present, finished, reset };

/// `unread_of` peeks at the unread bytes of a socket. `presence_of` checks whether the other side still
/// sends. Each makes one system call.
Unread unread_of(int descriptor);
Presence presence_of(int descriptor);

/// Returns true if the other side of a TCP socket seems dead: some bytes are unacknowledged, have been
/// retransmitted at least twice, and nothing was acknowledged within `since` (row L4). Reads TCP_INFO by one
/// system call. Returns false if the kernel does not report these values.
bool is_dead_peer(int descriptor, Duration since);

/// Why the other side ended TLS, if the other side sent an alert. The texts are static.
struct TlsRefusal {
  std::string_view words{};   ///< name of the fatal alert; empty if there was none
  bool is_permanent = false;  ///< the alert rejects this side's identity, so a retry would get the same alert
  bool is_about_protocol = false;  ///< the other side speaks none of the offered protocols (ALPN)
};

/// A link only moves bytes; the Stream that owns the link applies limits and cancellation. Used by one
/// thread. At most one read and one write may be pending at a time.
class Link {
 public:
  virtual ~Link() = default;

  virtual asio::any_io_executor executor() = 0;
  virtual Task<ErrorCode> connect(const tcp::endpoint&) = 0;
  /// Reads at least one byte, or fails (eof for FIN).
  virtual ReadTask read_some(asio::mutable_buffer) = 0;
  /// Reads the available bytes without waiting. The error is would_block if no bytes are available. Required
  /// only of a link that carries another link.
  virtual std::size_t read_now(asio::mutable_buffer, ErrorCode& error) {
    error = asio::error::operation_not_supported;
    return 0;
  }
  virtual Task<ErrorCode> wait_readable() = 0;
  virtual Task<ErrorCode> wait_writable() = 0;
  /// Writes as much as is accepted at once. The error is would_block if nothing is accepted.
  virtual std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) = 0;
  /// Ends all pending waits with operation_aborted. Later reads and writes work as before.
  virtual void cancel() = 0;
  /// Sends FIN. Reading continues.
  virtual void finish_sending() = 0;
  /// Ends the sending because the bytes come from a connection that broke. By default a FIN, because a reset
  /// would discard what the other side has not read yet (row G4).
  virtual void break_sending() { finish_sending(); }
  virtual void close() = 0;
  /// Closes the link in such a way that the other side does not take the sent bytes for complete.
  virtual void cut() = 0;
  virtual bool open() const = 0;
  virtual Unread unread() = 0;
  virtual Presence presence() = 0;
  /// Returns true if bytes were retransmitted at least twice and nothing was acknowledged within `since`.
  virtual bool seems_dead(Duration since) { return is_dead_peer(descriptor(), since); }
  /// Returns true if bytes leave in TLS records. In that case the count that `write_some` returns does not
  /// show what the other side has received, and the bytes of a failed write may have arrived.
  virtual bool sealed() const { return false; }
  /// Returns why the other side ended TLS; empty if the other side has not ended it.
  virtual TlsRefusal refusal() const { return {}; }
  /// Returns the descriptor of the underlying socket, for socket options only; -1 if there is none.
  virtual int descriptor() { return -1; }
  /// Returns how many bytes the other host has not acknowledged. By default, this is the count of the
  /// underlying socket.
  virtual std::uint64_t unacknowledged();
};

/// Progress of a handshake.
enum class Handshake : std::uint8_t { done, wants_read, wants_write, failed };

/// A link that verifies the other side before it carries any data.
class SecureLink : public Link {
 public:
  /// Makes one step of the handshake without blocking. After `wants_read` or `wants_write` the caller waits
  /// until the transport can be read or written, and calls again.
  virtual Handshake shake_hands() = 0;
  /// Returns the error of a failed handshake: eof, a socket error, or a TlsError.
  virtual ErrorCode failure() const = 0;
  /// Returns OpenSSL's description of a failed handshake, for the log. The text may contain text from the
  /// other side.
  virtual std::string words() const = 0;
  /// Returns why the certificate does not verify, as OpenSSL's static text. Empty if the certificate verifies
  /// or was not checked.
  virtual std::string_view why_unproved() const { return {}; }
  /// Returns true if the two sides have agreed on HTTP/2 (ALPN). Call after the handshake.
  virtual bool selected_http2() const { return false; }
  bool sealed() const override { return true; }
  Task<ErrorCode> connect(const tcp::endpoint&) final { co_return asio::error::already_connected; }
};

}  // namespace reprise::net
