// One side of TLS over a connected socket or another link. Replaces Asio's SSL stream, so that a write is
// tried at once and leaves in one record.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/tls_channel.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/tls/tls_demands.hpp"
#include "proxy/net/tls/tls_server.hpp"

namespace reprise::net {

/// A link to an upstream verifies the upstream before it carries any data. FIN without close_notify is
/// reported as TlsError::no_close_notify.
class TlsLink final : public SecureLink {
 public:
  /// Makes the client's side. `name`: the name that the other side must prove, a host name (also sent as SNI)
  /// or a literal address. Resumes the session in `ticket` and replaces that session by newer ones. `client`
  /// must outlive the link. Offers the version of HTTP in ALPN, and no other. The transport is a socket, or a
  /// link that can be read without waiting, such as another TlsLink.
  TlsLink(Carrier, const TlsClient& client, std::string_view name, std::shared_ptr<TlsTicket> ticket,
          Protocol = Protocol::http1);
  /// Makes the server's side; the client is not verified. `before`: bytes that were already read from the
  /// client.
  TlsLink(Carrier, const TlsServer& server, std::string before, Protocol offered);
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
  /// Sends close_notify. Reading continues.
  void finish_sending() override;
  /// Closes with close_notify. If the kernel does not accept the close_notify at once, it is sent after the
  /// pending bytes, within a second (row F7).
  void close() override;
  void cut() override;
  bool open() const override;
  /// Peeks like Link::unread. Also processes records without data, such as session tickets.
  Unread unread() override;
  Presence presence() override;
  TlsRefusal refusal() const override;
  int descriptor() override;

  bool selected_http2() const override;
  /// Returns true if the handshake resumed an earlier session.
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
  std::string_view why_unproved_;  ///< static text
  ErrorCode later_;  ///< error of a read that had already returned bytes; reported by the next read
  Protocol protocol_ = Protocol::http1;
  unsigned cancels_ = 0;
  bool nameless_ = false;
  bool established_ = false;
  bool broken_ = false;       ///< no more bytes can be sent
  bool write_waits_ = false;  ///< a record is half written
  bool read_wants_write_ = false;
  bool asked_ = false;  ///< bytes were sent since the last read, and no received bytes are buffered
};

}  // namespace reprise::net
