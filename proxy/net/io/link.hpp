// A connection that is not a plain socket: what a Stream asks of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/io/outflow.hpp"
#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// What lies unread on a connection.
enum class Unread : std::uint8_t {
  nothing,  ///< open and quiet
  bytes,
  closed,  ///< FIN or an error, with nothing before it
};

/// Whether the other side still sends, even behind bytes that nobody has read.
enum class Presence : std::uint8_t { present, finished, reset };

/// Of a socket, each by a system call.
Unread unread_of(int descriptor);
Presence presence_of(int descriptor);

/// Of a TCP socket (TCP_INFO; a system call): true if bytes of ours are unacknowledged that were sent again
/// twice at least, and the other side has acknowledged nothing within `since` (row L4). False where that
/// cannot be told.
bool is_unheard(int descriptor, Duration since);

/// Why the other side ended TLS, as far as it said. Texts live for ever.
struct TlsRefusal {
  std::string_view words{};  ///< the name of its fatal alert; empty: it said nothing
  bool for_good = false;     ///< about who this side is: the same will come again
};

/// Used by one thread, by one Stream, which knows the limits and what was cancelled: a link only moves bytes.
/// One read and one write wait at a time.
class Link {
 public:
  virtual ~Link() = default;

  virtual asio::any_io_executor executor() = 0;
  virtual Task<ErrorCode> connect(const tcp::endpoint&) = 0;
  /// At least one byte, or an error (eof for FIN).
  virtual ReadTask read_some(asio::mutable_buffer) = 0;
  /// What is at hand, without waiting: would_block if nothing is. Only of a link that others may run over.
  virtual std::size_t read_now(asio::mutable_buffer, ErrorCode& error) {
    error = asio::error::operation_not_supported;
    return 0;
  }
  virtual Task<ErrorCode> wait_readable() = 0;
  virtual Task<ErrorCode> wait_writable() = 0;
  /// What is taken at once; would_block if nothing is.
  virtual std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) = 0;
  /// Ends whatever waits with operation_aborted; later calls work.
  virtual void cancel() = 0;
  /// Sends FIN, goes on reading.
  virtual void finish_sending() = 0;
  virtual void close() = 0;
  /// Closes so that nobody takes what was sent for complete.
  virtual void cut() = 0;
  virtual bool open() const = 0;
  virtual Unread unread() = 0;
  virtual Presence presence() = 0;
  /// Whether what was written within `since` was sent again and again and nothing of it acknowledged.
  virtual bool unheard(Duration since) { return is_unheard(descriptor(), since); }
  /// True if bytes leave in records: then what `write_some` counts is no measure of what the other side has
  /// seen, and a write that failed may have been read.
  virtual bool sealed() const { return false; }
  /// Returns why the other side ended TLS; empty if it has not.
  virtual TlsRefusal refusal() const { return {}; }
  /// Of the socket below, for its options alone; -1 where there is none.
  virtual int descriptor() { return -1; }
  /// Bytes that the other host has not acknowledged: of the socket below, unless a link knows better.
  virtual std::uint64_t unacknowledged();
};

/// How far a handshake has come.
enum class Handshake : std::uint8_t { done, wants_read, wants_write, failed };

/// A link that has to make sure of the other side before it carries anything.
class SecureLink : public Link {
 public:
  /// One step, which never blocks; `wants_...` is waited for before the next.
  virtual Handshake shake_hands() = 0;
  /// Of a failed handshake: eof, what the socket said, or one of TlsError.
  virtual ErrorCode failure() const = 0;
  /// Of a failed handshake: in the library's own words, for the log; may quote the other side.
  virtual std::string words() const = 0;
  /// Of a certificate that does not verify: the library's fixed sentence, which lives for ever; else empty.
  virtual std::string_view why_unproved() const { return {}; }
  bool sealed() const override { return true; }
  Task<ErrorCode> connect(const tcp::endpoint&) final { co_return asio::error::already_connected; }
};

}  // namespace reprise::net
