#include "proxy/server/listener_set.hpp"

#include <algorithm>

namespace reprise::net {
namespace {

bool same(const config::Endpoint& one, const config::Endpoint& other) {
  return one.address == other.address && one.port == other.port;
}

}  // namespace

ListenerSet ListenerSet::bind(const config::Settings& settings, asio::io_context& binding,
                              const ListenerSet* before, std::vector<InheritedSocket>& inherited) {
  ListenerSet set;
  std::vector<std::shared_ptr<BoundListener>> old;
  if (before != nullptr) old = before->listeners_;
  const auto add = [&](std::string_view mode, const config::Endpoint& where, bool is_admin) {
    const auto kept = std::find_if(old.begin(), old.end(), [&](const auto& each) {
      return each->is_admin == is_admin && same(each->wanted, where);
    });
    if (kept != old.end()) {
      set.listeners_.push_back(*kept);
      old.erase(kept);
      return;
    }
    auto fresh = std::make_shared<BoundListener>();
    fresh->wanted = where;
    fresh->bound.emplace(take_or_bind(binding, mode, where, inherited));
    fresh->endpoint = fresh->bound->local_endpoint();
    fresh->is_admin = is_admin;
    set.listeners_.push_back(std::move(fresh));
  };
  for (const config::Listener& listener : settings.listeners) add(word(listener.mode), listener.bind, false);
  add("admin", settings.admin.bind, true);
  return set;
}

void ListenerSet::open_on(const std::vector<std::unique_ptr<Worker>>& workers) {
  for (const auto& fresh : listeners_) {
    if (!fresh->bound) continue;
    if (fresh->is_admin) {
      fresh->admin = std::make_shared<tcp::acceptor>(duplicate(workers.front()->io, *fresh->bound));
    } else {
      for (const auto& worker : workers) {
        auto listener = std::make_shared<Listener>();
        listener->acceptor.emplace(duplicate(worker->io, *fresh->bound));
        fresh->on_threads.push_back(std::move(listener));
      }
    }
    fresh->bound.reset();
  }
}

std::vector<tcp::endpoint> ListenerSet::endpoints() const {
  std::vector<tcp::endpoint> endpoints;
  for (const auto& listener : listeners_) endpoints.push_back(listener->endpoint);
  return endpoints;
}

bool ListenerSet::has(const BoundListener& listener) const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [&](const auto& each) { return each.get() == &listener; });
}

}  // namespace reprise::net
