#include "config/routes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "config/fields.hpp"
#include "config/patterns.hpp"
#include "config/reader.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view fallback_name = "default";
constexpr std::size_t most_routes = 1000;

bool is_mapping(const Node* node) { return node != nullptr && node->kind == Node::Kind::mapping; }

class RouteBuilder {
 public:
  RouteBuilder(const Node& root, Report& report) : root_(root), report_(report) {
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
    // Each request is compared with one route after the other, and each route with all before it.
    if (count > most_routes)
      report_.error(routes->line, routes->column, "routes",
                    "is too long: at most " + std::to_string(most_routes) + " routes");
    for (std::size_t i = 0; i < std::min(count, most_routes); ++i) {
      const Node& item = routes->items[i];
      if (item.kind == Node::Kind::mapping) add(item, "routes[" + std::to_string(i) + "]");
    }
    policy::Route fallback;
    fallback.name = std::string(fallback_name);
    fallback.policy = base_;
    fallback.line = fallback_line_;
    built_.routes.push_back(std::move(fallback));
    built_.origins.push_back({{}, {}, defaults_});
    return std::move(built_);
  }

 private:
  void add(const Node& node, const std::string& path) {
    policy::Route route;
    route.policy = base_;
    route.line = node.line;
    RouteOrigin origin{{&node, path}, {}, defaults_};
    read_name(node, path, route);
    read_policy(node, path, route, origin);
    Reader reader(node, "routes[]");
    route_fields(reader, route.policy);
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
    if (name->kind != Node::Kind::scalar || name->broken || !parse_name(name->text)) return;
    route.name = name->text;
    const std::string place = child_path(path, "name");
    if (name->text == fallback_name)
      return report_.error(name->line, name->column, place,
                           shown(*name) + " is the name of what no route matches: choose another");
    const auto [first, is_new] = names_.emplace(name->text, name->line);
    if (!is_new)
      report_.error(
          name->line, name->column, place,
          shown(*name) + " is taken: the route in line " + std::to_string(first->second) + " has it");
  }

  void read_policy(const Node& node, const std::string& path, policy::Route& route, RouteOrigin& origin) {
    const Node* name = node.find("policy");
    if (name == nullptr || name->kind != Node::Kind::scalar || name->broken || !parse_name(name->text))
      return;
    const Node* policies = root_.find("policies");
    const Node* bundle = policies == nullptr ? nullptr : policies->find(name->text);
    if (bundle == nullptr) {
      std::vector<std::string_view> known;
      if (policies != nullptr) {
        for (const Entry& entry : policies->entries) known.emplace_back(entry.key);
      }
      const std::string_view near = name->origin.empty() ? nearest(name->text, known) : std::string_view();
      const std::string meant = near.empty() ? "" : " (did you mean " + std::string(near) + "?)";
      return report_.error(name->line, name->column, child_path(path, "policy"),
                           shown(*name) + " is not under policies" + meant);
    }
    if (!is_mapping(bundle)) return;
    origin.policy = {bundle, child_path("policies", name->text)};
    Reader reader(*bundle, "policies.*");
    route_fields(reader, route.policy);
  }

  const Node& root_;
  Report& report_;
  policy::RoutePolicy base_;
  RouteOrigin::Layer defaults_;
  std::size_t fallback_line_ = 0;
  std::map<std::string, std::size_t> names_;
  BuiltRoutes built_;
};

}  // namespace

BuiltRoutes build_routes(const Node& root, Report& report) { return RouteBuilder(root, report).run(); }

}  // namespace reprise::config
