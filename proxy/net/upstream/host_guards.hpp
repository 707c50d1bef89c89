// The circuits and pauses of all upstream hosts, shared by the io threads; bounded in number.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/net/upstream/host_table.hpp"
#include "proxy/policy/pacing/circuit.hpp"
#include "proxy/policy/pacing/host_pause.hpp"

namespace reprise::net {

/// One circuit per host:port and circuit settings, one pause per host:port. Thread-safe. Holds at most `most`
/// hosts, plus those whose circuits or pause are in use. If an evicted host is used again, it starts with a
/// closed circuit and no pause.
class HostGuards {
 public:
  explicit HostGuards(std::size_t most) : hosts_(most) {}

  std::shared_ptr<policy::Circuit> circuit(std::string_view host_port, const policy::CircuitPolicy&);
  std::shared_ptr<policy::HostPause> pause(std::string_view host_port);
  /// Marks a host as most recently used. Call before releasing the host's circuits and pause. Hosts are
  /// evicted in the order in which they were released.
  void left(std::string_view host_port);
  /// Calls the function with the host:port and state of every circuit, for the gauge.
  void each(policy::Instant now,
            const std::function<void(std::string_view host_port, policy::Circuit::State)>&);
  /// Calls the function with the host:port and end of every pause that has not ended.
  void each_pause(policy::Instant now,
                  const std::function<void(std::string_view host_port, policy::Instant until)>&);

 private:
  struct Host {
    std::vector<std::pair<policy::CircuitPolicy, std::shared_ptr<policy::Circuit>>> circuits;
    std::shared_ptr<policy::HostPause> pause;
    bool held() const;
  };

  std::mutex mutex_;
  HostTable<Host> hosts_;
};

}  // namespace reprise::net
