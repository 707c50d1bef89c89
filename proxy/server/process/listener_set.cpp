#include "proxy/server/process/listener_set.hpp"

#include <algorithm>

namespace reprise::server {
namespace {

using Listeners = std::vector<std::shared_ptr<BoundListener>>;

/// A listening address in the configuration.
struct Place {
  std::string_view mode;
  config::Endpoint where;
  bool is_admin = false;
};

/// Returns the addresses in the configuration's order; the admin listener is last.
std::vector<Place> places_of(const config::Settings& settings) {
  std::vector<Place> places;
  for (const config::Listener& listener : settings.listeners)
    places.push_back({forward::word(listener.mode), listener.bind});
  if (!settings.admin.bind.is_off()) places.push_back({"admin", settings.admin.bind, true});
  return places;
}

/// Removes the listener with this address from `old` and returns it; null if there is none.
std::shared_ptr<BoundListener> take_over(Listeners& old, const Place& place) {
  const auto kept = std::find_if(old.begin(), old.end(), [&](const auto& each) {
    return each->is_admin == place.is_admin && each->wanted.address == place.where.address &&
           each->wanted.port == place.where.port;
  });
  if (kept == old.end()) return nullptr;
  std::shared_ptr<BoundListener> taken = *kept;
  old.erase(kept);
  return taken;
}

bool moves_to(const BoundListener& leaves, const config::Endpoint& where) {
  return leaves.endpoint.port() == where.port && leaves.wanted.address != where.address;
}

}  // namespace

void BoundListener::lend(forward::Port port) {
  forward::lend_port(is_admin ? *admin : *on_threads.front()->acceptor, port);
}

ListenerSet ListenerSet::bind(const config::Settings& settings, asio::io_context& binding,
                              const ListenerSet* before, std::vector<net::InheritedSocket>& inherited) {
  ListenerSet set;
  Listeners old;
  if (before != nullptr) old = before->listeners_;
  const std::vector<Place> places = places_of(settings);
  for (const Place& place : places) set.listeners_.push_back(take_over(old, place));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (set.listeners_[i] != nullptr) continue;
    const Place& place = places[i];
    const bool lent =
        std::any_of(old.begin(), old.end(), [&](const auto& each) { return moves_to(*each, place.where); });
    auto fresh = std::make_shared<BoundListener>();
    fresh->wanted = place.where;
    fresh->bound.emplace(forward::take_or_bind(binding, place.mode, place.where, inherited,
                                               lent ? forward::Port::lent : forward::Port::own));
    fresh->endpoint = fresh->bound->local_endpoint();
    fresh->is_admin = place.is_admin;
    set.listeners_[i] = std::move(fresh);
  }
  return set;
}

Listeners ListenerSet::moved_by(const config::Settings& settings) const {
  Listeners leave = listeners_;
  std::vector<config::Endpoint> fresh;
  for (const Place& place : places_of(settings)) {
    if (take_over(leave, place) == nullptr) fresh.push_back(place.where);
  }
  std::erase_if(leave, [&](const auto& each) {
    return std::none_of(fresh.begin(), fresh.end(),
                        [&](const auto& where) { return moves_to(*each, where); });
  });
  return leave;
}

void ListenerSet::open_on(const std::vector<std::unique_ptr<forward::Worker>>& workers) {
  for (const auto& fresh : listeners_) {
    if (!fresh->bound) continue;
    if (fresh->is_admin) {
      fresh->admin = std::make_shared<tcp::acceptor>(forward::duplicate(workers.front()->io, *fresh->bound));
    } else {
      for (const auto& worker : workers) {
        auto listener = std::make_shared<forward::Listener>();
        listener->acceptor.emplace(forward::duplicate(worker->io, *fresh->bound));
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

}  // namespace reprise::server
