#include "proxy/tools/inject/options.hpp"

#include <algorithm>
#include <utility>

#include "proxy/tools/inject/quantity.hpp"

namespace reprise::tools {
namespace {

constexpr std::string_view resource_names[] = {"cpu", "memory", "ephemeral-storage"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// An annotation, the option that it sets, and the check of its value.
struct Annotation {
  std::string_view name;
  std::optional<std::string> (*fault)(std::string_view) = nullptr;
  std::optional<std::string> Options::*text = nullptr;
  Resources Options::*resources = nullptr;
  std::string_view resource{};
};
constexpr Annotation annotations[] = {
    {"image", nullptr, &Options::image},
    {"image-pull-policy", fault_of_pull_policy, &Options::pull_policy},
    {"pull-secret", nullptr, &Options::pull_secret},
    {"run-as-user", fault_of_user, &Options::user},
    {"config-map", nullptr, &Options::config_map},
    {"config", nullptr, &Options::config},
    {"cpu-request", fault_of_quantity, nullptr, &Options::requests, "cpu"},
    {"memory-request", fault_of_quantity, nullptr, &Options::requests, "memory"},
    {"cpu-limit", fault_of_quantity, nullptr, &Options::limits, "cpu"},
    {"memory-limit", fault_of_quantity, nullptr, &Options::limits, "memory"},
};

std::optional<Fault> take(const Node& value, const Annotation& what, Options& options) {
  if (value.kind != Node::Kind::scalar)
    return Fault{value.line, value.column, std::string(key_prefix).append(what.name) + " is not text"};
  // An empty quantity is valid: the sidecar then gets no quantity for this resource, not even the default.
  const bool is_judged = what.fault != nullptr && !(what.resources != nullptr && value.text.empty());
  if (const auto wrong = is_judged ? what.fault(value.text) : std::nullopt)
    return Fault{value.line, value.column, std::string(key_prefix).append(what.name) + ": " + *wrong};
  if (what.text != nullptr) options.*what.text = value.text;
  if (what.resources != nullptr) (options.*what.resources)[std::string(what.resource)] = value.text;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_of_quantity(std::string_view text) {
  if (quantity(text)) return std::nullopt;
  return "'" + std::string(text) + "' is not a Kubernetes quantity: write a quantity such as 100m or 192Mi";
}

std::optional<std::string> fault_of_user(std::string_view text) {
  if (text == "none") return std::nullopt;
  if (!is_digits(text) || text.size() > 10)
    return "'" + std::string(text) + "' is not a user: write a numeric user id, or none";
  if (text.find_first_not_of('0') == std::string_view::npos)
    return std::string("0 is root, and the container must not run as root");
  return std::nullopt;
}

std::optional<std::string> fault_of_pull_policy(std::string_view text) {
  if (text == "Always" || text == "IfNotPresent" || text == "Never") return std::nullopt;
  return "'" + std::string(text) + "' is not a pull policy: write Always, IfNotPresent or Never";
}

std::variant<Resources, std::string> read_resources(std::string_view text) {
  Resources resources;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t equals = one.find('=');
    const std::string name(one.substr(0, equals));
    if (equals == std::string_view::npos ||
        std::find(std::begin(resource_names), std::end(resource_names), name) == std::end(resource_names))
      return "'" + std::string(one) +
             "' is not NAME=QUANTITY with cpu, memory or ephemeral-storage as the name";
    const std::string value(one.substr(equals + 1));
    if (auto wrong = fault_of_quantity(value)) return name + ": " + *wrong;
    if (!resources.emplace(name, value).second) return name + " is given twice";
  }
  if (resources.empty())
    return std::string("the value is empty: write quantities such as cpu=20m,memory=32Mi");
  return resources;
}

std::variant<Options, Fault> read_annotations(const Node* metadata) {
  Options options;
  const Node* there = metadata == nullptr ? nullptr : metadata->find("annotations");
  if (there == nullptr) return options;
  for (const Annotation& one : annotations) {
    const Node* value = there->find(std::string(key_prefix).append(one.name));
    if (value == nullptr) continue;
    if (auto fault = take(*value, one, options)) return *fault;
  }
  return options;
}

Options joined(Options one, const Options& other) {
  // The options `config` and `config_map` exclude each other. If `one` sets either of them, both are ignored
  // in `other`.
  if (!one.config && !one.config_map) {
    one.config = other.config;
    one.config_map = other.config_map;
  }
  for (const auto member : {&Options::image, &Options::pull_policy, &Options::pull_secret, &Options::user}) {
    if (!(one.*member)) one.*member = other.*member;
  }
  one.requests.insert(other.requests.begin(), other.requests.end());
  one.limits.insert(other.limits.begin(), other.limits.end());
  one.has_label = one.has_label || other.has_label;
  one.is_scraped = one.is_scraped || other.is_scraped;
  return one;
}

}  // namespace reprise::tools
