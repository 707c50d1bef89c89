// The circuits and pauses of all upstream hosts: shared by the io threads, bounded in number.
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

/// One circuit per host:port and circuit settings, one pause per host:port. Thread-safe. At most `most`
/// hosts, and those of which somebody holds one; a forgotten one starts closed and without a pause.
class HostGuards {
 public:
  explicit HostGuards(std::size_t most) : hosts_(most) {}

  std::shared_ptr<policy::Circuit> circuit(std::string_view host_port, const policy::CircuitPolicy&);
  std::shared_ptr<policy::HostPause> pause(std::string_view host_port);
  /// To be told before somebody lets go of that host's: the one let go of first is forgotten first.
  void left(std::string_view host_port);
  /// Calls back with every circuit's host:port and state, for the gauge.
  void each(policy::Instant now,
            const std::function<void(std::string_view host_port, policy::Circuit::State)>&);
  /// The same with every pause that is not over, and its end.
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
