// One side of TLS over a connected socket, or over another link, driven by hand so that a write is tried at
// once and goes out in one record.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/tls_channel.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/tls/tls_server.hpp"

namespace reprise::net {

/// To an upstream: verified before it carries anything. A
/// FIN without close_notify is TlsError::no_close_notify.
class TlsLink final : public SecureLink {
 public:
  /// `name`: who the other side has to be, a host name (which is also sent as SNI) or a literal address. The
  /// session in `ticket` is resumed, and replaced by newer ones; `client` outlives the link.
  /// It runs over a socket, or over a link that can be read without waiting, such as another TlsLink.
  TlsLink(Carrier, const TlsClient& client, std::string_view name, std::shared_ptr<TlsTicket> ticket);
  /// The server's side, for a client that proves nothing; `before`: what of its bytes was read already.
  TlsLink(Carrier, const TlsServer& server, std::string before);
  ~TlsLink() override;

  Handshake shake_hands() override;
  ErrorCode failure() const override { return failure_; }
  std::string words() const override { return words_; }
  std::string_view why_unproved() const override { return why_unproved_; }

  asio::any_io_executor executor() override;
  ReadTask read_some(asio::mutable_buffer) override;
  std::size_t read_now(asio::mutable_buffer, ErrorCode&) override;
  Task<ErrorCode> wait_readable() override;
  Task<ErrorCode> wait_writable() override;
  std::size_t write_some(std::span<const asio::const_buffer>, ErrorCode&) override;
  void cancel() override;
  /// close_notify; the connection stays, and is read from.
  void finish_sending() override;
  /// With close_notify: at once if the kernel takes it, else behind what it still has to send, for a second
  /// at most (row F7).
  void close() override;
  void cut() override;
  bool open() const override;
  /// Takes in what is no data, such as session tickets.
  Unread unread() override;
  Presence presence() override;
  TlsRefusal refusal() const override;
  int descriptor() override;

  /// True where a session was resumed.
  bool resumed() const;

 private:
  std::size_t take(asio::mutable_buffer, ErrorCode&);
  std::size_t seal(asio::const_buffer, ErrorCode&);
  ErrorCode error_of(int result);
  void fail();
  void notify();

  std::shared_ptr<TlsChannel> channel_;
  ErrorCode failure_;
  std::string words_;
  std::string_view why_unproved_;  ///< static
  ErrorCode later_;                ///< of a read that came to something before
  unsigned cancels_ = 0;
  bool nameless_ = false;
  bool established_ = false;
  bool broken_ = false;       ///< nothing more can be said on it
  bool write_waits_ = false;  ///< a record is half out
  bool read_wants_write_ = false;
  bool asked_ = false;  ///< something was sent since the last read, and nothing is at hand
};

}  // namespace reprise::net
