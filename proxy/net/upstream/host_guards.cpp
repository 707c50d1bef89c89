#include "proxy/net/upstream/host_guards.hpp"

#include <algorithm>

namespace reprise::net {

bool HostGuards::Host::held() const {
  const auto is_held = [](const auto& one) { return one.second.use_count() > 1; };
  return pause.use_count() > 1 || std::any_of(circuits.begin(), circuits.end(), is_held);
}

std::shared_ptr<policy::Circuit> HostGuards::circuit(std::string_view host_port,
                                                     const policy::CircuitPolicy& policy) {
  const std::scoped_lock lock(mutex_);
  Host& host = hosts_.at(host_port);
  for (const auto& [settings, circuit] : host.circuits) {
    if (settings == policy) return circuit;
  }
  host.circuits.emplace_back(policy, std::make_shared<policy::Circuit>(policy));
  return host.circuits.back().second;
}

std::shared_ptr<policy::HostPause> HostGuards::pause(std::string_view host_port) {
  const std::scoped_lock lock(mutex_);
  Host& host = hosts_.at(host_port);
  if (host.pause == nullptr) host.pause = std::make_shared<policy::HostPause>();
  return host.pause;
}

void HostGuards::left(std::string_view host_port) {
  const std::scoped_lock lock(mutex_);
  hosts_.left(host_port);
}

void HostGuards::each(policy::Instant now,
                      const std::function<void(std::string_view, policy::Circuit::State)>& report) {
  const std::scoped_lock lock(mutex_);
  hosts_.each([&](std::string_view host_port, const Host& host) {
    for (const auto& [settings, circuit] : host.circuits) report(host_port, circuit->state(now));
  });
}

void HostGuards::each_pause(policy::Instant now,
                            const std::function<void(std::string_view, policy::Instant)>& report) {
  const std::scoped_lock lock(mutex_);
  hosts_.each([&](std::string_view host_port, const Host& host) {
    if (host.pause == nullptr) return;
    if (const auto until = host.pause->until(now)) report(host_port, *until);
  });
}

}  // namespace reprise::net
