#include "config/reference/render.hpp"

#include <algorithm>
#include <array>

#include "config/keys/address.hpp"
#include "config/keys/call_words.hpp"
#include "config/keys/collector.hpp"
#include "config/keys/parent.hpp"
#include "config/keys/patterns.hpp"
#include "config/keys/scalar.hpp"
#include "proxy/policy/match/status_range.hpp"

namespace reprise::config {
namespace {

bool is_plain(std::string_view text) {
  const auto allowed = [](char c) {
    return is_alphanumeric(c) || std::string_view("_./%=-").find(c) != std::string_view::npos;
  };
  const bool first = !text.empty() && (is_alphanumeric(text.front()) || text.front() == '/');
  return first && std::all_of(text.begin(), text.end(), allowed) && text != "null" && text != "Null" &&
         text != "NULL";
}

std::string flow_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) text.append(i > 0 ? ", " : "").append(items[i]);
  return text.append("]");
}

template <typename List, typename Text>
std::string scalar_list(const List& list, Text text) {
  std::vector<std::string> items;
  items.reserve(list.size());
  for (const auto& item : list) items.push_back(yaml_scalar(text(item)));
  return flow_list(items);
}

// Returns one pattern as a text, and several patterns as a list.
std::string patterns_text(const std::vector<std::string>& patterns) {
  if (patterns.size() == 1) return yaml_scalar(patterns.front());
  return scalar_list(patterns, [](const std::string& pattern) { return pattern; });
}

std::string absent_word(const Key& key) { return std::string(key.words.substr(0, key.words.find(' '))); }

// Returns the statuses as items: 5xx for a whole class, first-last for a range, and single statuses.
std::vector<std::string> status_items(const std::bitset<policy::highest_status + 1>& statuses) {
  std::vector<std::string> items;
  for (std::size_t status = 200; status < statuses.size(); ++status) {
    if (!statuses.test(status)) continue;
    const std::size_t first = status;
    while (status + 1 < statuses.size() && statuses.test(status + 1)) ++status;
    const bool whole_class = first % 100 == 0 && status == first + 99;
    if (whole_class) {
      items.push_back(std::to_string(first / 100) + "xx");
    } else {
      items.push_back(first == status ? std::to_string(first)
                                      : std::to_string(first) + "-" + std::to_string(status));
    }
  }
  return items;
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\\') result.push_back('\\');
    if (text.substr(i, 2) == "${") result.push_back('$');
    result.push_back(text[i]);
  }
  return result.append("\"");
}

Rendered render(const Key&, bool value) { return value ? "true" : "false"; }
Rendered render(const Key&, const std::string& value) { return yaml_scalar(value); }
Rendered render(const Key& key, Duration value) {
  return value == policy::no_limit ? absent_word(key) : duration_text(value);
}
Rendered render(const Key&, unsigned value) { return std::to_string(value); }
Rendered render(const Key&, const Endpoint& value) {
  return value.is_off() ? "off" : yaml_scalar(endpoint_text(value));
}
Rendered render(const Key&, const Admin&) { return std::nullopt; }
Rendered render(const Key&, const GatewayUpstream& value) { return yaml_scalar(upstream_text(value)); }

Rendered render(const Key& key, const std::optional<Collector>& value) {
  return value ? yaml_scalar(collector_text(*value)) : absent_word(key);
}

Rendered render(const Key& key, double value) {
  if (key.kind == Kind::ratio) return ratio_text(value);
  return key.kind == Kind::rate ? rate_text(value) : number_text(value);
}

Rendered render(const Key& key, std::size_t value) {
  if (value == policy::no_size_limit) return absent_word(key);
  return key.kind == Kind::size ? size_text(value) : std::to_string(value);
}

Rendered render(const Key& key, const std::optional<Duration>& value) {
  return value ? duration_text(*value) : absent_word(key);
}

Rendered render(const Key& key, const std::optional<unsigned>& value) {
  return value ? std::to_string(*value) : absent_word(key);
}

Rendered render(const Key& key, const std::optional<std::string>& value) {
  if (value && key.path == "defaults.tls.key_passphrase") return yaml_scalar("***");
  return value ? yaml_scalar(*value) : absent_word(key);
}

// The sections `tls` and `resume` have no text of their own: each of their keys is printed separately.
Rendered render(const Key&, const policy::TlsPolicy&) { return std::nullopt; }
Rendered render(const Key&, const policy::ResumePolicy&) { return std::nullopt; }

Rendered render(const Key&, const std::optional<std::uint16_t>& value) {
  return value ? Rendered(std::to_string(*value)) : std::nullopt;
}

Rendered render(const Key& key, const std::optional<Parent>& value) {
  if (!value) return absent_word(key);
  const std::string url = yaml_scalar(parent_text(*value));
  std::string more;
  if (value->tls && value->tls->ca_file) more.append(", ca_file: ").append(yaml_scalar(*value->tls->ca_file));
  if (!value->except.empty()) {
    const auto as_it_is = [](const std::string& host) { return host; };
    more.append(", except: ").append(scalar_list(value->except, as_it_is));
  }
  return more.empty() ? url : "{url: " + url + more + "}";
}

Rendered render(const Key&, const Deny& deny) {
  std::vector<std::string> items = deny.networks;
  if (deny.self) items.emplace_back("self");
  return scalar_list(items, [](const std::string& item) { return item; });
}

Rendered render(const Key& key, const std::optional<PortRanges>& ranges) {
  return ranges ? scalar_list(*ranges, ports_text) : Rendered(key.instead);
}

Rendered render(const Key&, const policy::Refused& refused) {
  return flow_list(status_items(refused.statuses));
}

Rendered render(const Key&, const policy::RetryOn& on) {
  std::vector<std::string> items = status_items(on.statuses);
  for (const policy::FailureWord& word : policy::failure_words) {
    if (on.*word.listed) items.emplace_back(word.text);
  }
  for (std::size_t i = 0; i < on.calls.size(); ++i) {
    if (on.calls.test(i)) items.push_back(call_word(static_cast<policy::GrpcStatus>(i)));
  }
  return flow_list(items);
}

Rendered render(const Key&, const policy::IdempotencyRule& rule) {
  const std::string word(policy::word(rule.kind));
  if (!rule.has_conditions()) return word;
  std::vector<std::string> items;
  for (const policy::Condition& condition : rule.conditions) {
    const std::string kind(policy::word(condition.kind));
    items.push_back("{" + kind + ": " + yaml_scalar(condition_text(condition)) + "}");
  }
  return "{" + word + ": " + flow_list(items) + "}";
}

Rendered render(const Key&, const std::vector<policy::BodyPredicate>& predicates) {
  if (predicates.empty()) return std::nullopt;
  std::vector<std::string> items;
  for (const policy::BodyPredicate& predicate : predicates) {
    std::vector<std::string> parts;
    if (predicate.status) parts.push_back("status: " + policy::describe(*predicate.status));
    const auto add = [&](std::string_view key, const std::string& text) {
      if (!text.empty()) parts.push_back(std::string(key) + ": " + yaml_scalar(text));
    };
    add("event", predicate.event);
    add("json", predicate.json);
    add("xml", predicate.xml);
    add("header", predicate.header);
    if (predicate.value.equals) parts.push_back("equals: " + yaml_scalar(*predicate.value.equals));
    if (!predicate.value.matches.empty())
      parts.push_back("matches: " + patterns_text(predicate.value.matches));
    if (predicate.refused) parts.emplace_back("refused: true");
    std::string item = "{";
    for (const std::string& part : parts) item.append(item.size() > 1 ? ", " : "").append(part);
    items.push_back(item.append("}"));
  }
  return flow_list(items);
}

Rendered render(const Key&, const policy::HostPattern& host) {
  return host.text.empty() ? std::nullopt : Rendered(yaml_scalar(host.text));
}

Rendered render(const Key&, const std::vector<policy::HostPattern>& hosts) {
  if (hosts.empty()) return std::nullopt;
  return scalar_list(hosts, [](const policy::HostPattern& host) { return host.text; });
}

Rendered render(const Key&, const policy::PathPattern& path) { return yaml_scalar(path.text()); }

Rendered render(const Key&, const std::vector<policy::GrpcPattern>& methods) {
  if (methods.empty()) return std::nullopt;
  return scalar_list(methods, [](const policy::GrpcPattern& method) { return method.text(); });
}

Rendered render(const Key&, const std::vector<std::string>& methods) {
  if (methods.empty()) return std::nullopt;
  return scalar_list(methods, [](const std::string& method) { return method; });
}

Rendered render(const Key&, const std::vector<policy::Condition>& pairs) {
  if (pairs.empty()) return std::nullopt;
  return scalar_list(pairs, condition_text);
}

}  // namespace reprise::config
