// What a TLS connection runs over, and its state at OpenSSL:
// it outlives its link while a goodbye is on its way.
#pragma once

#include <openssl/types.h>

#include <memory>

#include "proxy/net/io/stream.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/tls/tls_remarks.hpp"
#include "proxy/net/tls/tls_socket.hpp"

namespace reprise::net {

/// A socket, or another link that TLS runs over. Used on one thread.
class TlsChannel {
 public:
  /// Throws std::bad_alloc.
  TlsChannel(Carrier carrier, SSL_CTX* settings);

  Task<ErrorCode> wait_readable();
  Task<ErrorCode> wait_writable();
  /// Ends whatever waits.
  void cancel();
  bool open() const;
  void close();
  /// So that nobody takes what was sent for complete.
  void cut();
  asio::any_io_executor executor() { return socket_.get_executor(); }
  int descriptor();

  SSL* connection() const { return connection_.get(); }
  TlsSocketErrors& errors() { return errors_; }
  /// Null of a socket.
  Link* below() { return below_.get(); }
  std::shared_ptr<TlsTicket>& ticket() { return ticket_; }
  const TlsRemarks& remarks() const { return remarks_; }

  /// How far the close_notify has come.
  enum class Notice : std::uint8_t { unsent, pending, sent };
  Notice notice() const { return notice_; }
  /// True if there is nothing to wait for any more.
  bool try_notify();
  /// Until the kernel takes it, a second at most; then it is closed if `closes`.
  static Task<void> say_goodbye(std::shared_ptr<TlsChannel>);

  bool closes = false;  ///< once the goodbye is out

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
