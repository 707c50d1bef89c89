// The transport and the OpenSSL state of a TLS connection. They outlive their TlsLink while a close_notify is
// pending.
#pragma once

#include <openssl/types.h>

#include <memory>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/tls/tls_remarks.hpp"
#include "proxy/net/tls/tls_socket.hpp"

namespace reprise::net {

/// One TLS connection over a transport: a socket, or another link below TLS. Used on one thread.
class TlsChannel {
 public:
  /// Throws std::bad_alloc.
  TlsChannel(Carrier carrier, SSL_CTX* settings);

  Task<ErrorCode> wait_readable();
  Task<ErrorCode> wait_writable();
  /// Ends all pending waits.
  void cancel();
  bool open() const;
  void close();
  /// Closes the transport in such a way that the other side does not take the sent bytes for complete.
  void cut();
  asio::any_io_executor executor() { return socket_.get_executor(); }
  int descriptor();

  SSL* connection() const { return connection_.get(); }
  TlsSocketErrors& errors() { return errors_; }
  /// Returns the link that TLS runs over; null if the transport is a socket.
  Link* below() { return below_.get(); }
  std::shared_ptr<TlsTicket>& ticket() { return ticket_; }
  const TlsRemarks& remarks() const { return remarks_; }

  /// Progress of the close_notify.
  enum class Notice : std::uint8_t { unsent, pending, sent };
  Notice notice() const { return notice_; }
  /// Tries to send close_notify. Returns false if the caller must try again when the transport is writable.
  bool try_notify();
  /// Sends close_notify as soon as the kernel accepts it, but tries for at most a second. Then closes the
  /// transport if `closes` is set.
  static Task<void> send_close_notify(std::shared_ptr<TlsChannel>);

  bool closes = false;  ///< close after close_notify is sent

 private:
  struct FreeConnection {
    void operator()(SSL* connection) const;
  };

  std::unique_ptr<Link> below_;
  tcp::socket socket_;
  TlsSocketErrors errors_;
  std::shared_ptr<TlsTicket> ticket_;
  TlsRemarks remarks_;
  std::unique_ptr<SSL, FreeConnection> connection_;
  Notice notice_ = Notice::unsent;
};

}  // namespace reprise::net
