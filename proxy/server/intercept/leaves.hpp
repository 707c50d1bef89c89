// The certificates for intercepted hosts: made at the first request, off the io threads, and kept until they
// must be renewed.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/net/tls/client_tls.hpp"
#include "proxy/server/intercept/authority.hpp"

namespace reprise::server {

/// Keeps at most `most` certificates; evicts the least recently used.
class Leaves final : public net::ClientTls {
 public:
  Leaves(std::shared_ptr<const Authority>, std::vector<policy::HostPattern> hosts, std::size_t most);
  ~Leaves() override { stop(); }
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  const std::vector<policy::HostPattern>& hosts() const override { return hosts_; }
  Task<Accept> certificate_for(std::string name, asio::any_io_executor, std::string& why) override;
  /// Stops making certificates. Returns when no certificate is being made any more.
  void stop();

 private:
  using Order = std::list<std::pair<std::string, Leaf>>;  ///< the most recently used certificate is first

  std::shared_ptr<const net::TlsServer> kept(const std::string& name, std::int64_t now);
  void keep(const std::string& name, const Leaf&);

  const std::shared_ptr<const Authority> authority_;
  const std::vector<policy::HostPattern> hosts_;
  const std::size_t most_;
  std::mutex mutex_;
  Order order_;                                                  ///< guarded by the mutex
  std::unordered_map<std::string_view, Order::iterator> known_;  ///< guarded by the mutex
  asio::thread_pool maker_{1};
};

}  // namespace reprise::server
