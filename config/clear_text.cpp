#include "config/clear_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "config/presets/presets.hpp"
#include "config/reader.hpp"

namespace reprise::config {
namespace {

using policy::HostPattern;
using policy::Route;

bool originates(const Node& route) {
  const Node* tls = locate(route, "tls");
  return tls != nullptr && tls->text == "originate";
}

// Returns the hosts of preset routes with `tls: originate`.
const std::vector<HostPattern>& hosts_over_tls() {
  static const std::vector<HostPattern> all = [] {
    std::vector<HostPattern> found;
    for (const std::string_view name : preset_names()) {
      for (const PresetRoute& shipped : preset_routes(name)) {
        const Node* hosts = locate(*shipped.route, "match.hosts");
        if (hosts == nullptr || !originates(*shipped.route)) continue;
        for (const Node& host : hosts->items) {
          const bool known = std::any_of(found.begin(), found.end(),
                                         [&](const HostPattern& other) { return other.text == host.text; });
          if (!known) found.push_back({host.text});
        }
      }
    }
    return found;
  }();
  return all;
}

bool is_local(const HostPattern& host) {
  return host.text == "localhost" || host.text == "::1" || host.text.starts_with("127.") ||
         host.text.ends_with(".localhost");
}

class ClearTextChecker {
 public:
  ClearTextChecker(const Route& route, const RouteOrigin& origin, Report& report)
      : route_(route), origin_(origin), report_(report) {}

  void run() {
    if (route_.policy.tls.originate || origin_.route.node == nullptr) return;
    route_.source.empty() ? check_own() : check_preset();
  }

 private:
  void check_own() {
    std::vector<HostPattern> hosts = route_.match.hosts;
    hosts.push_back(route_.match.host);
    const auto over_tls = [](const HostPattern& host) {
      return !host.text.empty() && is_reached_over_tls(host.text);
    };
    const auto found = std::find_if(hosts.begin(), hosts.end(), over_tls);
    const bool elsewhere = route_.match.port && *route_.match.port != 80;
    if (found == hosts.end() || elsewhere) return;
    const Node* tls = origin_.route.node->find("tls");
    const Node& at = tls != nullptr ? *tls : *origin_.route.node;
    warn(at, tls != nullptr ? ".tls" : "",
         "requests to http://" + found->text +
             " are sent in clear text, with their credentials, but this service uses TLS: write tls: "
             "originate (CONNECT tunnels are not affected)");
  }

  void check_preset() {
    const Node& entry = *origin_.route.node;
    if (!originates(*origin_.shipped_route.front())) return;
    const Node* tls = entry.find("tls");
    const Node* hosts = entry.find("hosts");
    if (hosts == nullptr)
      return warn(tls != nullptr ? *tls : entry, tls != nullptr ? ".tls" : "",
                  "this service uses TLS, but requests to its http:// URLs would be sent in clear text, with "
                  "their credentials: remove the key tls, or write tls: originate");
    const bool tls_is_set =
        tls != nullptr || (origin_.policy.node != nullptr && origin_.policy.node->find("tls") != nullptr);
    const std::vector<HostPattern>& given = route_.match.hosts;
    if (tls_is_set || std::all_of(given.begin(), given.end(), is_local)) return;
    warn(*hosts, ".hosts",
         "requests to these hosts are sent in clear text, with the service's credentials: write tls: "
         "originate, or tls: off if this is intended");
  }

  void warn(const Node& at, std::string_view below, const std::string& message) {
    report_.warning(at.line, at.column, origin_.route.path + std::string(below), message);
  }

  const Route& route_;
  const RouteOrigin& origin_;
  Report& report_;
};

}  // namespace

bool is_reached_over_tls(std::string_view host) {
  const auto& all = hosts_over_tls();
  return std::any_of(all.begin(), all.end(), [&](const HostPattern& pattern) {
    return pattern.text == host || pattern.matches(host);
  });
}

void check_clear_text(const BuiltRoutes& built, Report& report) {
  for (std::size_t i = 0; i < built.routes.size(); ++i)
    ClearTextChecker(built.routes[i], built.origins[i], report).run();
}

}  // namespace reprise::config
