// Posts batches of spans over one connection to a collector.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/resolve/resolver.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/server/trace_export/delivery.hpp"

namespace reprise::server {

/// A separate HTTP client that uses no proxy, not even this process. Used by one thread.
class CollectorClient {
 public:
  /// `via`: this proxy's name for the Via field. If the request comes back to this proxy, the name reveals
  /// the loop.
  CollectorClient(net::Tick&, asio::any_io_executor, net::Resolver&, std::string version, std::string via);

  /// Posts a body over the existing connection or a new one. Always ends within `limit`. At most one call at
  /// a time.
  Task<Posted> post(const config::Collector&, std::string_view body, Duration limit);
  /// Ends the pending post.
  void cancel();

 private:
  Task<Posted> run(const config::Collector&, std::string_view body);
  Task<Posted::End> dial(const config::Collector&);
  /// Adds TLS to the connection; succeeds if the collector's certificate verifies.
  Task<Posted::End> secure(const config::Collector&);
  Task<std::vector<asio::ip::address>> addresses_of(const std::string& host);
  /// Returns true if the current connection goes to that collector and has no unread bytes.
  bool is_connected_to(const config::Collector&);
  Task<ErrorCode> send(const config::Collector&, std::string_view body);
  Task<Posted> receive();
  /// Returns the reason if the time limit or `cancel` stopped the post before a response arrived. Otherwise
  /// returns `end`.
  Posted::End judged(Posted::End end) const;
  void stop(Posted::End why);

  net::Tick& tick_;
  const asio::any_io_executor executor_;
  net::Resolver& resolver_;
  const std::string version_;
  const std::string via_;
  net::Timer limit_;
  Instant due_{};
  std::unique_ptr<net::Stream> stream_;  ///< null if there is no connection
  std::shared_ptr<net::Lookup> lookup_;  ///< pending lookup; may be null
  config::Collector connected_to_;
  std::shared_ptr<const net::TlsClient> tls_;     ///< null before the first TLS connection
  std::optional<std::string> tls_file_;           ///< file of the certificates that `tls_` trusts
  std::string why_unproved_;                      ///< error of the last attempt to set up TLS
  Posted::End stopped_ = Posted::End::responded;  ///< why the post was stopped; `responded`: not stopped
  bool posting_ = false;
};

}  // namespace reprise::server
