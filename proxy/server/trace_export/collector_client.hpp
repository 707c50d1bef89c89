// The one connection to a collector, over which batches of spans are posted.
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

/// A client of its own, which goes through no proxy, not even this one. Used by one thread.
class CollectorClient {
 public:
  /// `via`: our name, by which a request that comes back to us is known as a loop.
  CollectorClient(net::Tick&, asio::any_io_executor, net::Resolver&, std::string version, std::string via);

  /// Over the connection that is there, or a new one; within
  /// `limit`, whatever the other side does. One at a time.
  Task<Posted> post(const config::Collector&, std::string_view body, Duration limit);
  /// Ends a post under way.
  void cancel();

 private:
  Task<Posted> run(const config::Collector&, std::string_view body);
  Task<Posted::End> dial(const config::Collector&);
  /// Over TLS from now on, if the collector has proved who it is.
  Task<Posted::End> secure(const config::Collector&);
  Task<std::vector<asio::ip::address>> addresses_of(const std::string& host);
  /// Whether the connection that is there leads to it, and nothing has come over it meanwhile.
  bool is_connected_to(const config::Collector&);
  Task<ErrorCode> send(const config::Collector&, std::string_view body);
  Task<Posted> receive();
  /// What `end` is called where the limit or somebody else ended it.
  Posted::End judged(Posted::End end) const;
  void stop(Posted::End why);

  net::Tick& tick_;
  const asio::any_io_executor executor_;
  net::Resolver& resolver_;
  const std::string version_;
  const std::string via_;
  net::Timer limit_;
  Instant due_{};
  std::unique_ptr<net::Stream> stream_;  ///< null: there is no connection
  std::shared_ptr<net::Lookup> lookup_;  ///< under way
  config::Collector connected_to_;
  std::shared_ptr<const net::TlsClient> tls_;    ///< null before the first connection over TLS
  std::optional<std::string> tls_file_;          ///< the certificates that it trusts
  std::string why_unproved_;                     ///< of the last dial
  Posted::End stopped_ = Posted::End::answered;  ///< otherwise why nothing goes on
  bool posting_ = false;
};

}  // namespace reprise::server
