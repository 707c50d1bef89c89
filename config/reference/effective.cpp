#include "config/reference/effective.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/keys/fields.hpp"
#include "config/reference/render.hpp"

namespace reprise::config {
namespace {

// Prints settings: an object of this class is the argument `fields` of the functions in fields.hpp. Collects
// dotted paths and prints them as nested keys.
class Printer {
 public:
  explicit Printer(std::string schema) : schema_(std::move(schema)) {}

  template <typename T>
  void field(std::string_view path, const T& value) {
    const Key* key = find_key(path_of(path));
    if (key == nullptr || std::find(left_out_.begin(), left_out_.end(), path) != left_out_.end()) return;
    if (auto text = render(*key, value)) line(path, std::move(*text));
  }

  template <typename T, typename Function>
  void section(std::string_view path, const std::optional<T>& value, Function inside) {
    if (value) return inside(*value);
    // An absent section is printed as `off` if a word can switch it off; otherwise it is omitted.
    if (const Key* key = find_key(path_of(path)); key != nullptr && !key->words.empty()) line(path, "off");
  }

  /// Prints no line for the key.
  void leave_out(std::string_view path) { left_out_.push_back(path); }

  void line(std::string_view path, std::string text) { lines_.emplace_back(path, std::move(text)); }

  /// Returns the lines, each indented by `indent` blanks.
  std::string text(std::size_t indent) const {
    std::string result;
    std::vector<std::string_view> open;
    for (const auto& [path, value] : lines_) {
      std::vector<std::string_view> steps = split(path);
      const std::string_view name = steps.back();
      steps.pop_back();
      std::size_t shared = 0;
      while (shared < open.size() && shared < steps.size() && open[shared] == steps[shared]) ++shared;
      for (std::size_t depth = shared; depth < steps.size(); ++depth)
        result.append(indent + 2 * depth, ' ').append(steps[depth]).append(":\n");
      result.append(indent + 2 * steps.size(), ' ').append(name).append(": ").append(value).append("\n");
      open = std::move(steps);
    }
    return result;
  }

  /// Returns the lines as one item of a YAML list.
  std::string item() const {
    std::string result = text(4);
    return result.empty() ? "  - {}\n" : result.replace(0, 4, "  - ");
  }

 private:
  std::string path_of(std::string_view path) const {
    return schema_.empty() ? std::string(path) : schema_ + "." + std::string(path);
  }

  static std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> steps;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      steps.push_back(path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    steps.push_back(path);
    return steps;
  }

  std::string schema_;
  std::vector<std::string_view> left_out_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    result.append("  ").append(text, start, end - start + 1);
    start = end + 1;
  }
  return result;
}

// Leaves out the time limits that the route has only by `defaults`: as keys of the route, they would apply to
// gRPC calls too.
void leave_out_inherited_limits(const policy::RoutePolicy& route, const policy::RoutePolicy& defaults,
                                Printer& printer) {
  const auto look_at = [&](std::string_view path, const auto& of_calls, Duration own, Duration inherited) {
    if (!of_calls && own == inherited && own != policy::no_limit) printer.leave_out(path);
  };
  const policy::CallLimits& calls = route.of_calls;
  look_at("response_timeout", calls.response_timeout, route.response_timeout, defaults.response_timeout);
  look_at("idle_timeout", calls.idle_timeout, route.idle_timeout, defaults.idle_timeout);
  look_at("retry.attempt_timeout", calls.attempt_timeout,
          route.retry.attempt_timeout.value_or(policy::no_limit),
          defaults.retry.attempt_timeout.value_or(policy::no_limit));
}

// Prints the settings that apply to the requests of the route.
std::string route_yaml(const policy::Route& route, const policy::RoutePolicy& defaults) {
  Printer head("routes[]");
  head.line("name", yaml_scalar(route.name));
  Printer match("routes[].match");
  match_fields(match, route.match);
  Printer policy("routes[]");
  if (route.match.grpc.empty()) {
    leave_out_inherited_limits(route.policy, defaults, policy);
    route_fields(policy, route.policy);
  } else {
    const policy::RoutePolicy of_calls = policy_of_calls(route.policy);
    route_fields(policy, of_calls);
  }
  return head.item() + "    match:\n" + indented(match.text(4)) + policy.text(4);
}

}  // namespace

std::string effective_yaml(const Settings& settings) {
  std::string text = "version: 1\nlisteners:\n";
  for (const Listener& listener : settings.listeners) {
    Printer printer("listeners[]");
    listener_fields(printer, listener);
    text.append(printer.item());
  }
  Printer process{""};
  process_fields(process, settings);
  text.append(process.text(0));
  if (!settings.routes) return text;
  const std::size_t fallback = settings.routes->size() - 1;
  Printer defaults("defaults");
  const policy::RoutePolicy& of_all = (*settings.routes)[fallback].policy;
  route_fields(defaults, of_all);
  text.append("defaults:\n").append(defaults.text(2));
  if (fallback > 0) text.append("routes:\n");
  for (std::size_t i = 0; i < fallback; ++i) text.append(route_yaml((*settings.routes)[i], of_all));
  return text;
}

}  // namespace reprise::config
