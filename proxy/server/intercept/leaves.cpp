#include "proxy/server/intercept/leaves.hpp"

#include <boost/asio/post.hpp>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/tls/tls_link.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::server {
namespace {

std::int64_t now_in_seconds() { return net::Clock::wall_nanoseconds() / 1'000'000'000; }

/// A pending certificate and the session that waits for it.
struct Making {
  explicit Making(const asio::any_io_executor& executor) : done(executor) {}
  net::Timer done;
  bool over = false;
  std::shared_ptr<const net::TlsServer> server;
  std::string why;
};

net::ClientTls::Accept accept_with(std::shared_ptr<const net::TlsServer> server) {
  if (server == nullptr) return {};
  return [server = std::move(server)](net::Carrier carrier, std::string before,
                                      net::Protocol offered) -> std::unique_ptr<net::SecureLink> {
    return std::make_unique<net::TlsLink>(std::move(carrier), *server, std::move(before), offered);
  };
}

}  // namespace

Leaves::Leaves(std::shared_ptr<const Authority> authority, std::vector<policy::HostPattern> hosts,
               std::size_t most)
    : authority_(std::move(authority)), hosts_(std::move(hosts)), most_(most) {}

void Leaves::stop() {
  maker_.stop();
  maker_.join();
}

std::shared_ptr<const net::TlsServer> Leaves::kept(const std::string& name, std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end() || !found->second->second.is_good(now)) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->second.server;
}

void Leaves::keep(const std::string& name, const Leaf& leaf) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = known_.find(name); found != known_.end()) {
    found->second->second = leaf;
    return;
  }
  order_.emplace_front(name, leaf);
  known_.emplace(order_.front().first, order_.begin());
  if (order_.size() <= most_) return;
  known_.erase(order_.back().first);
  order_.pop_back();
}

Task<net::ClientTls::Accept> Leaves::certificate_for(std::string name, asio::any_io_executor executor,
                                                     std::string& why) {
  name = policy::lower(policy::without_last_dot(name));
  const std::int64_t now = now_in_seconds();
  if (auto server = kept(name, now)) co_return accept_with(std::move(server));
  const auto making = std::make_shared<Making>(executor);
  asio::post(maker_, [this, making, executor, name, now] {
    std::shared_ptr<const net::TlsServer> server = kept(name, now);
    std::string trouble;
    try {
      if (server == nullptr) {
        const Leaf leaf = authority_->issue(name, now);
        keep(name, leaf);
        server = leaf.server;
      }
    } catch (const std::runtime_error& error) {
      trouble = error.what();
    }
    asio::post(executor, [making, server, trouble] {
      making->server = server;
      making->why = trouble;
      making->over = true;
      making->done.cancel();
    });
  });
  while (!making->over) {
    making->done.expires_at(Instant::max());
    co_await making->done.async_wait(as_result);
  }
  why = making->why;
  co_return accept_with(making->server);
}

}  // namespace reprise::server
