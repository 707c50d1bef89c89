// Short requests for tests, with functions that return the route and the idempotency of a request.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {

/// A JSON body with the given top-level keys, each with a value. Nested keys do not count.
class Keys final : public policy::JsonBody {
 public:
  explicit Keys(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  bool has(std::string_view key) const override {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }

 private:
  std::vector<std::string> keys_;
};

/// A request such as `POST storage.googleapis.com/a%2Fb?x=1`, with header fields and keys of a JSON body.
struct Asked final : policy::FieldLines {
  Asked(std::string its_method, std::string_view its_target) : method(std::move(its_method)) {
    const std::size_t mark = its_target.find('?');
    if (mark != std::string_view::npos) query = its_target.substr(mark + 1);
    its_target = its_target.substr(0, mark);
    const std::size_t slash = its_target.find('/');
    host = its_target.substr(0, slash);
    path = its_target.substr(slash);
  }

  /// Adds `query:NAME`, `header:NAME` or `json:KEY` with that value. An empty value does not count as a
  /// condition (clause R35).
  Asked& with(std::string_view condition, const std::string& value) {
    const std::size_t colon = condition.find(':');
    const std::string name(condition.substr(colon + 1));
    if (condition.starts_with("query:"))
      query.append(query.empty() ? "" : "&").append(name).append("=").append(value);
    if (condition.starts_with("header:")) fields.emplace_back(name, value);
    if (condition.starts_with("json:") && !value.empty()) keys.push_back(name);
    return *this;
  }

  bool has(std::string_view name, std::string_view value) const override {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
      return policy::equals_ignoring_case(field.first, name) &&
             (value.empty() ? !field.second.empty() : field.second == value);
    });
  }

  policy::RequestView view() const { return {method, host, 443, path, query, this, false, is_call}; }

  const policy::Route& route(const Settings& settings) const {
    return (*settings.routes)[settings.routes->find(view())];
  }
  policy::Idempotency verdict(const Settings& settings) const {
    const Keys body(keys);
    return policy::judge(route(settings).policy.idempotent, view(), &body);
  }
  bool repeatable(const Settings& settings) const { return verdict(settings) == policy::Idempotency::yes; }

  std::string method;
  std::string host;
  std::string path;
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> keys;
  bool is_call = false;
};

/// Makes a gRPC call of a method such as `shop.internal/shop.Catalog/GetItem`.
inline Asked call(std::string_view target) {
  Asked request("POST", target);
  request.is_call = true;
  return request.with("header:Content-Type", "application/grpc");
}

/// Loads `version: 1` followed by the text, and returns the settings. Any error fails the test.
inline Settings settings_of(const std::string& text) {
  Loaded loaded = load_text("version: 1\n" + text, {});
  for (const Problem& problem : loaded.problems) {
    if (problem.severity == Problem::Severity::error) ADD_FAILURE() << to_line(problem, "f.yaml");
  }
  return loaded.settings ? *loaded.settings : built_in();
}

}  // namespace reprise::config
