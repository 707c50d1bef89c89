#include "config/routes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "config/clear_text.hpp"
#include "config/keys/fields.hpp"
#include "config/keys/patterns.hpp"
#include "config/preset_hosts.hpp"
#include "config/presets/presets.hpp"
#include "config/reader.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view fallback_name = "default";
constexpr std::size_t most_routes = 1000;

// Sets the time limits of gRPC calls that `section` itself has: the entry of a route, in a file or in a
// preset. The values are those of the route, because flags take precedence over the section.
void set_call_limits(const Node& section, policy::RoutePolicy& route) {
  policy::CallLimits& calls = route.of_calls;
  const auto has = [&](std::string_view key) { return locate(section, key) != nullptr; };
  if (has("response_timeout")) calls.response_timeout = route.response_timeout;
  if (has("idle_timeout")) calls.idle_timeout = route.idle_timeout;
  if (has("retry.attempt_timeout")) calls.attempt_timeout = route.retry.attempt_timeout;
}

bool is_mapping(const Node* node) { return node != nullptr && node->kind == Node::Kind::mapping; }

class RouteBuilder {
 public:
  RouteBuilder(const Node& root, const Node& over, Report& report)
      : root_(root), over_{&over, "defaults"}, report_(report) {
    for (const Entry& entry : root.entries) {
      if (entry.key != "defaults" || entry.value.kind != Node::Kind::mapping) continue;
      defaults_ = {&entry.value, "defaults"};
      fallback_line_ = entry.line;
      Reader reader(entry.value, "defaults");
      route_fields(reader, base_);
    }
  }

  BuiltRoutes run() {
    const Node* routes = root_.find("routes");
    const std::size_t count = routes == nullptr ? 0 : routes->items.size();
    // The number of routes is limited, because each route is compared with all routes before it, and each
    // request is compared with the routes in order until one matches.
    if (count > most_routes)
      report_.error(routes->line, routes->column, "routes",
                    "is too long: at most " + std::to_string(most_routes) + " routes");
    for (std::size_t i = 0; i < std::min(count, most_routes); ++i) {
      const Node& item = routes->items[i];
      if (item.kind == Node::Kind::mapping) add(item, "routes[" + std::to_string(i) + "]");
    }
    add_presets();
    policy::Route fallback;
    fallback.name = std::string(fallback_name);
    fallback.policy = base_;
    fallback.line = fallback_line_;
    built_.routes.push_back(std::move(fallback));
    built_.origins.push_back({over_, {}, {}, {}, {}, defaults_});
    return std::move(built_);
  }

 private:
  void add(const Node& node, const std::string& path) {
    policy::Route route;
    route.policy = base_;
    route.line = node.line;
    RouteOrigin origin{over_, {&node, path}, {}, {}, {}, defaults_};
    read_name(node, path, route);
    read_policy(node, path, origin);
    apply_policies(origin, route.policy);
    Reader reader(node, "routes[]");
    route_fields(reader, route.policy);
    apply_flags(route.policy);
    set_call_limits(node, route.policy);
    if (const Node* match = node.find("match"); is_mapping(match)) {
      Reader match_reader(*match, "routes[].match");
      match_fields(match_reader, route.match);
    }
    built_.routes.push_back(std::move(route));
    built_.origins.push_back(std::move(origin));
  }

  void read_name(const Node& node, const std::string& path, policy::Route& route) {
    const Node* name = node.find("name");
    if (name == nullptr)
      return report_.error(node.line, node.column, path, "has no name: write name: something");
    if (name->kind != Node::Kind::scalar || name->broken || !parse_route_name(name->text)) return;
    route.name = name->text;
    const std::string place = child_path(path, "name");
    if (name->text == fallback_name)
      return report_.error(
          name->line, name->column, place,
          shown(*name) + " is reserved for requests that match no route: choose another name");
    const auto [first, is_new] = names_.emplace(name->text, Owner{name->line, false});
    if (!is_new)
      report_.error(name->line, name->column, place,
                    shown(*name) + " is already the name of the route in line " +
                        std::to_string(first->second.line) + ": choose another name");
  }

  // Reads the policy that a route names. A policy of the file takes precedence over a preset's policy with
  // the same name.
  void read_policy(const Node& node, const std::string& path, RouteOrigin& origin) {
    const Node* name = node.find("policy");
    if (name == nullptr || name->kind != Node::Kind::scalar || name->broken || !parse_name(name->text))
      return;
    const Node* policies = root_.find("policies");
    const Node* bundle = policies == nullptr ? nullptr : policies->find(name->text);
    if (is_mapping(bundle)) origin.policy = {bundle, child_path("policies", name->text)};
    if (bundle != nullptr) return;
    if (const Node* shipped = preset_policy(name->text)) return origin.shipped_policies.push_back(shipped);
    std::vector<std::string_view> known = preset_policy_names();
    if (policies != nullptr) {
      for (const Entry& entry : policies->entries) known.emplace_back(entry.key);
    }
    const std::string_view near = name->origin.empty() ? nearest(name->text, known) : std::string_view();
    report_.error(
        name->line, name->column, child_path(path, "policy"),
        shown(*name) + " is not the name of a policy in policies or in a preset" + did_you_mean(near));
  }

  static void apply_policies(const RouteOrigin& origin, policy::RoutePolicy& policy) {
    const auto apply = [&](const Node& bundle) {
      Reader reader(bundle, "policies.*");
      route_fields(reader, policy);
    };
    for (const Node* shipped : origin.shipped_policies) apply(*shipped);
    if (origin.policy.node != nullptr) apply(*origin.policy.node);
  }

  void apply_flags(policy::RoutePolicy& policy) const {
    Reader reader(*over_.node, "routes[]");
    route_fields(reader, policy);
  }

  void add_presets() {
    const Node* presets = root_.find("presets");
    if (presets == nullptr) return;
    for (std::size_t i = 0; i < presets->items.size(); ++i) {
      const Node& item = presets->items[i];
      const std::string path = "presets[" + std::to_string(i) + "]";
      const Node* name = item.kind == Node::Kind::scalar ? &item : item.find("name");
      if (item.kind == Node::Kind::mapping && name == nullptr)
        report_.error(item.line, item.column, path,
                      "has no name: write name: gcs, or the name of another preset");
      if (name == nullptr || name->kind != Node::Kind::scalar || name->broken) continue;
      add_preset(item, path, name->text);
    }
    put_calls_first();
  }

  // Moves the routes of presets that match gRPC calls before those that match other requests too, and those
  // with hosts first: so neither the routes of an HTTP API nor the routes for calls to any host take the
  // calls of a service that has its own preset.
  void put_calls_first() {
    const auto rank = [](const PresetPair& pair) {
      const policy::Match& match = pair.first.match;
      return match.grpc.empty() ? 2 : match.hosts.empty() ? 1 : 0;
    };
    std::stable_sort(of_presets_.begin(), of_presets_.end(),
                     [&](const PresetPair& a, const PresetPair& b) { return rank(a) < rank(b); });
    for (auto& [route, origin] : of_presets_) {
      built_.routes.push_back(std::move(route));
      built_.origins.push_back(std::move(origin));
    }
  }

  // Adds the routes of a preset. `entry` is the preset's name, or a mapping whose keys override the preset's
  // keys.
  void add_preset(const Node& entry, const std::string& path, const std::string& name) {
    std::vector<PresetRoute> shipped = preset_routes(name);
    std::vector<policy::HostPattern> hosts;
    if (entry.find("hosts") != nullptr) {
      Reader reader(entry, "presets[]");
      reader.field("hosts", hosts);
      const Node& list = *entry.find("hosts");
      if (list.kind == Node::Kind::list && list.items.empty())
        report_.error(list.line, list.column, path + ".hosts", "is empty: write a host, or remove the key");
    }
    RouteOrigin origin{over_, {&entry, path}, {}, {}, {}, defaults_};
    read_policy(entry, path, origin);
    const bool moved = std::any_of(hosts.begin(), hosts.end(), [](const policy::HostPattern& host) {
      return !is_reached_over_tls(host.text);
    });
    const PresetHosts place(std::move(hosts), shipped);
    for (const PresetRoute& one : shipped) {
      policy::Route route;
      RouteOrigin its = origin;
      make_preset_route(one, moved, route, its);
      if (!place.put(route.match)) continue;
      if (!claim_name(entry, path, route.name)) return;
      of_presets_.emplace_back(std::move(route), std::move(its));
    }
  }

  // Builds a route of a preset. Applies, in ascending precedence: the defaults, the policies of the preset,
  // the policy of the entry in `presets`, the keys of the preset's route, the keys of the entry, the flags.
  void make_preset_route(const PresetRoute& shipped, bool moved, policy::Route& route,
                         RouteOrigin& origin) const {
    route.policy = base_;
    route.source = std::string(shipped.preset);
    route.line = shipped.route->line;
    route.name = shipped.route->find("name")->text;
    origin.shipped_route.push_back(shipped.route);
    origin.shipped_policies.insert(origin.shipped_policies.begin(), shipped.policies.begin(),
                                   shipped.policies.end());
    apply_policies(origin, route.policy);
    const policy::TlsPolicy elsewhere = route.policy.tls;
    Reader own(*shipped.route, "routes[]");
    route_fields(own, route.policy);
    // If the author replaced the preset's hosts, for example by the host of an emulator, the preset's TLS
    // settings do not apply.
    if (moved) route.policy.tls = elsewhere;
    Reader match(*shipped.route->find("match"), "routes[].match");
    match_fields(match, route.match);
    Reader differs(*origin.route.node, "presets[]");
    route_fields(differs, route.policy);
    apply_flags(route.policy);
    for (const Node* section : {shipped.route, origin.route.node}) set_call_limits(*section, route.policy);
  }

  bool claim_name(const Node& entry, const std::string& path, const std::string& name) {
    const auto [first, is_new] = names_.emplace(name, Owner{entry.line, true});
    if (is_new) return true;
    const std::string line = std::to_string(first->second.line);
    report_.error(entry.line, entry.column, path,
                  first->second.preset
                      ? "adds the same routes as the preset in line " + line + ": remove one of the two"
                      : "adds a route " + in_quotes(name) + ", but the route in line " + line +
                            " already has that name: rename that route");
    return false;
  }

  // The section that first used a route name.
  struct Owner {
    std::size_t line = 0;
    bool preset = false;  // true if that section is a preset's entry, not a route of the file
  };

  const Node& root_;
  const RouteOrigin::Layer over_;
  Report& report_;
  policy::RoutePolicy base_;
  RouteOrigin::Layer defaults_;
  std::size_t fallback_line_ = 0;
  std::map<std::string, Owner> names_;
  using PresetPair = std::pair<policy::Route, RouteOrigin>;
  std::vector<PresetPair> of_presets_;
  BuiltRoutes built_;
};

}  // namespace

BuiltRoutes build_routes(const Node& root, const Node& over, Report& report) {
  return RouteBuilder(root, over, report).run();
}

}  // namespace reprise::config
