#include "config/keys/values.hpp"

#include <algorithm>

#include "config/keys/address.hpp"
#include "config/keys/call_words.hpp"
#include "config/keys/collector.hpp"
#include "config/keys/parent.hpp"
#include "config/keys/patterns.hpp"
#include "config/keys/predicates.hpp"
#include "config/keys/proxy_variables.hpp"
#include "config/keys/rule.hpp"
#include "config/keys/synonyms.hpp"
#include "config/yaml/raw_text.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

struct Complaint {
  std::string reason;
  std::string suggestion;
  bool names_words = false;  // true if `reason` already lists the valid words
};

// Maximum length of a suggestion; a longer one is not readable in a message.
constexpr std::size_t longest_suggestion = 120;

bool contains(const std::vector<std::string_view>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

template <typename T>
std::optional<Complaint> check(Parsed<T> parsed) {
  if (parsed) return std::nullopt;
  return Complaint{std::move(parsed.reason), std::move(parsed.suggestion), false};
}

template <typename T>
std::optional<Complaint> check_range(const Key& key, std::string_view text,
                                     Parsed<T> (*parse)(std::string_view)) {
  const Parsed<T> parsed = parse(text);
  if (!parsed) return Complaint{parsed.reason, parsed.suggestion, false};
  const bool low = !key.lowest.empty() && *parsed.value < *parse(key.lowest).value;
  const bool high = !key.highest.empty() && *parsed.value > *parse(key.highest).value;
  if (!low && !high) return std::nullopt;
  return Complaint{"is out of range: write " + expectation(key), {}, true};
}

std::optional<Complaint> check_statuses(const Key& key, std::string_view text) {
  if (call_status(text) == policy::GrpcStatus::ok)
    return Complaint{"is the status of a call that succeeded, which is not retried: remove it", {}, true};
  const Parsed<policy::StatusRange> parsed = parse_statuses(text);
  if (!parsed || key.lowest.empty() || parsed.value->first >= parse_statuses(key.lowest).value->first)
    return check(parsed);
  return Complaint{"is below " + std::string(key.lowest) + ": write " + expectation(key), {}, true};
}

std::optional<Complaint> check_word(const Key& key, std::string_view text) {
  const auto words = split_words(key.words);
  if (contains(words, text)) return std::nullopt;
  return Complaint{"is not a known word: write " + expectation(key), std::string(nearest(text, words)), true};
}

std::optional<Complaint> check_absolute(std::string_view text, std::string_view example) {
  if (text.starts_with("/")) return std::nullopt;
  return Complaint{"is not an absolute path: write a path such as " + std::string(example), {}, false};
}

std::optional<Complaint> check_host(const Key& key, std::string_view text) {
  if (text != "*") return check(parse_host_pattern(text));
  const std::string_view name = last_part(key.path);
  if (key.path == "intercept.hosts")
    return Complaint{
        "means every host, but only listed hosts are intercepted: write their names, or a suffix such as "
        "*.example.com",
        {},
        true};
  return Complaint{"means every host: remove `" + std::string(name) + "` to match every host", {}, true};
}

// Suggests only a host with a port, because any other part of the text may contain a password.
std::optional<Complaint> check_parent_url(std::string_view text) {
  auto fault = check(parse_parent(text));
  if (!fault) return fault;
  if (policy::lower(text).starts_with("socks"))
    fault->reason = "names a SOCKS proxy: write an HTTP proxy, such as http://proxy:3128";
  const std::size_t colon = text.find(':');
  const bool is_host_and_port = colon != std::string_view::npos && parse_whole(text.substr(colon + 1));
  if (std::string url = completed_proxy_url(text); is_host_and_port && parse_parent(url))
    fault->suggestion = std::move(url);
  return fault;
}

std::optional<Complaint> check_kind(const Key& key, Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::word: return check_word(key, text);
    case Kind::boolean: return check(parse_boolean(text));
    case Kind::whole: return check_range(key, text, parse_whole);
    case Kind::number: return check_range(key, text, parse_number);
    case Kind::size: return check_range(key, text, parse_size);
    case Kind::duration: return check_range(key, text, parse_duration);
    case Kind::ratio: return check_range(key, text, parse_ratio);
    case Kind::rate: return check_range(key, text, parse_rate);
    case Kind::endpoint: return check(parse_endpoint(text));
    case Kind::upstream: return check(parse_upstream(text));
    case Kind::collector: return check(parse_collector(text));
    case Kind::parent: return check_parent_url(text);
    case Kind::network: return check(parse_network(text));
    case Kind::ports: return check(parse_ports(text));
    case Kind::status: return check_statuses(key, text);
    case Kind::name: return check(parse_name(text));
    case Kind::route: return check(parse_route_name(text));
    case Kind::host: return check_host(key, text);
    case Kind::destination: return check(parse_exception(text));
    case Kind::path: return check(parse_path(text));
    case Kind::method: return check(parse_method(text));
    case Kind::grpc_method: return check(parse_grpc_method(text));
    case Kind::version_field: return check(parse_version_field(text));
    case Kind::folder: return check_absolute(text, "/var/tmp");
    case Kind::file: return check_absolute(text, "/etc/ssl/upstream.pem");
    case Kind::mapping:
    case Kind::list:
    case Kind::pairs:
    case Kind::rule:
    case Kind::predicates:
    case Kind::text: break;
  }
  return std::nullopt;
}

// Checks a text. Suggests a value for a word of another tool or for a misspelt word, such as `conect` in
// retry.on.
std::optional<Complaint> fault_of(const Key& key, Kind kind, std::string_view text) {
  const auto words = split_words(key.words);
  if (kind != Kind::word && contains(words, text)) return std::nullopt;
  auto found = check_kind(key, kind, text);
  if (!found) return std::nullopt;
  if (std::string meant = meant_value(key, text); !meant.empty()) found->suggestion = std::move(meant);
  if (found->suggestion.empty() && contains(words, call_word(policy::GrpcStatus::unavailable)))
    found->suggestion = meant_call_word(text);
  if (found->suggestion.empty()) found->suggestion = std::string(nearest(text, words));
  return found;
}

// Returns the value as a message quotes it. Hides a text that may contain a password.
std::string name_of(const Node& scalar, Kind kind) {
  const bool credentials = kind == Kind::collector && scalar.text.find('@') != std::string::npos;
  return kind == Kind::parent || credentials ? "the value" : shown(scalar);
}

template <typename T>
void put(const Parsed<T>& parsed, T& target) {
  if (parsed) target = *parsed.value;
}

template <typename T>
void put_optional(const Key& key, const Node& node, std::optional<T>& target) {
  if (contains(split_words(key.words), node.text)) {
    target.reset();
    return;
  }
  T value{};
  assign(key, node, value);
  if (!complaint(key, node)) target = value;
}

template <typename Lists>
void add_statuses(const std::string& text, Lists& lists) {
  const auto range = parse_statuses(text);
  if (!range) return;
  for (int status = range.value->first; status <= range.value->last; ++status)
    lists.statuses.set(static_cast<std::size_t>(status));
}

// Assigns a list. Ignores a node that is not a list, because such a node was already reported.
template <typename T, typename Read>
void put_list(const Node& node, T& target, Read read) {
  if (node.kind != Node::Kind::list) return;
  T list{};
  for (const Node& item : node.items) read(item.text, list);
  target = std::move(list);
}

}  // namespace

std::optional<std::string> complaint(const Key& key, const Node& scalar) {
  const std::string& text = scalar.text;
  if (has_control(text)) return "the value has a line break or another control character in it";
  const Kind kind = key.kind == Kind::list ? key.item : key.kind;
  const auto found = fault_of(key, kind, text);
  if (!found) return std::nullopt;
  const bool tell =
      scalar.origin.empty() && !found->suggestion.empty() && found->suggestion.size() <= longest_suggestion;
  std::string message = name_of(scalar, kind) + " " + found->reason;
  const bool names_form = found->reason.find(": write ") != std::string::npos;
  if (kind != Kind::word && !key.words.empty() && !found->names_words && names_form)
    message.append(", or ").append(either(split_words(key.words)));
  return tell ? message + did_you_mean(found->suggestion) : message;
}

std::string correction(const Key& key, std::string_view text) {
  if (has_control(text)) return {};
  const auto found = fault_of(key, key.kind == Kind::list ? key.item : key.kind, text);
  return found ? found->suggestion : std::string();
}

std::optional<std::size_t> word_index(const Key& key, std::string_view text) {
  const auto words = split_words(key.words);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

bool is_alternative_word(const Key& key, const Node& node) {
  return node.kind == Node::Kind::scalar && !key.instead.empty() && node.text == key.instead;
}

void assign(const Key&, const Node& node, bool& target) { put(parse_boolean(node.text), target); }
void assign(const Key& key, const Node& node, std::string& target) {
  if (node.kind == Node::Kind::scalar && !complaint(key, node)) target = node.text;
}
void assign(const Key& key, const Node& node, Duration& target) {
  if (contains(split_words(key.words), node.text)) {
    target = policy::no_limit;
    return;
  }
  put(parse_duration(node.text), target);
}
void assign(const Key& key, const Node& node, Endpoint& target) {
  if (contains(split_words(key.words), node.text)) {
    target = {"", 0};
    return;
  }
  put(parse_endpoint(node.text), target);
}
void assign(const Key& key, const Node& node, Admin& target) {
  if (node.kind == Node::Kind::scalar) assign(key, node, target.bind);
}
void assign(const Key&, const Node& node, GatewayUpstream& target) { put(parse_upstream(node.text), target); }
void assign(const Key&, const Node& node, policy::PathPattern& target) { put(parse_path(node.text), target); }

void assign(const Key&, const Node& node, std::vector<policy::GrpcPattern>& target) {
  put_list(node, target, [](const std::string& text, auto& methods) {
    if (auto method = parse_grpc_method(text)) methods.push_back(std::move(*method.value));
  });
}

void assign(const Key&, const Node& node, policy::HostPattern& target) {
  put(parse_host_pattern(node.text), target);
}

void assign(const Key&, const Node& node, std::vector<policy::HostPattern>& target) {
  put_list(node, target, [](const std::string& text, auto& hosts) {
    if (auto host = parse_host_pattern(text)) hosts.push_back(std::move(*host.value));
  });
}

void assign(const Key& key, const Node& node, double& target) {
  if (key.kind == Kind::ratio) return put(parse_ratio(node.text), target);
  put(key.kind == Kind::rate ? parse_rate(node.text) : parse_number(node.text), target);
}

void assign(const Key& key, const Node& node, std::size_t& target) {
  if (contains(split_words(key.words), node.text)) {
    target = policy::no_size_limit;
    return;
  }
  std::uint64_t value = target;
  put(key.kind == Kind::size ? parse_size(node.text) : parse_whole(node.text), value);
  target = static_cast<std::size_t>(value);
}

void assign(const Key& key, const Node& node, unsigned& target) {
  // The cast is safe: the key table allows only values far below the maximum of `unsigned`.
  if (!complaint(key, node)) target = static_cast<unsigned>(*parse_whole(node.text).value);
}

void assign(const Key& key, const Node& node, std::optional<Duration>& target) {
  put_optional(key, node, target);
}
void assign(const Key& key, const Node& node, std::optional<unsigned>& target) {
  put_optional(key, node, target);
}

void assign(const Key& key, const Node& node, std::optional<std::uint16_t>& target) {
  if (!complaint(key, node)) target = static_cast<std::uint16_t>(*parse_whole(node.text).value);
}

void assign(const Key& key, const Node& node, std::optional<Parent>& target) {
  if (node.kind != Node::Kind::mapping) return put_optional(key, node, target);
  const Node* const url = node.find("url");
  Parsed<Parent> parent = url == nullptr ? Parsed<Parent>{} : parse_parent(url->text);
  if (!parent) return;
  target = std::move(parent.value);
  const Key* const ca_file = find_key("parent.ca_file");
  const Node* const file = node.find("ca_file");
  if (target->tls && file != nullptr && ca_file != nullptr) assign(*ca_file, *file, target->tls->ca_file);
  const Node* const except = node.find("except");
  if (except == nullptr) return;
  put_list(*except, target->except, [](const std::string& text, std::vector<std::string>& hosts) {
    if (auto host = parse_exception(text)) hosts.push_back(std::move(*host.value));
  });
}
void assign(const Key&, const Node& node, Parent& target) { put(parse_parent(node.text), target); }

void assign(const Key&, const Node& node, std::optional<Collector>& target) {
  target = parse_collector(node.text).value;
}

void assign(const Key& key, const Node& node, std::optional<std::string>& target) {
  put_optional(key, node, target);
}

void assign(const Key&, const Node& node, policy::TlsPolicy& target) {
  if (node.kind == Node::Kind::scalar) target.originate = node.text == "originate";
}

void assign(const Key&, const Node& node, policy::ResumePolicy& target) {
  if (node.kind == Node::Kind::scalar) target.enabled = node.text != "off";
  if (node.kind == Node::Kind::mapping && node.find("enabled") == nullptr) target.enabled = true;
}

void assign(const Key&, const Node& node, Deny& target) {
  if (node.kind != Node::Kind::list) return;
  Deny deny{{}, false};
  for (const Node& item : node.items) {
    if (item.text == "self") deny.self = true;
    if (auto network = parse_network(item.text)) deny.networks.push_back(std::move(*network.value));
  }
  target = std::move(deny);
}

void assign(const Key& key, const Node& node, std::optional<PortRanges>& target) {
  if (is_alternative_word(key, node)) {
    target.reset();
    return;
  }
  PortRanges ranges;
  put_list(node, ranges, [](const std::string& text, PortRanges& list) {
    if (const auto ports = parse_ports(text)) list.push_back(*ports.value);
  });
  if (node.kind == Node::Kind::list) target = std::move(ranges);
}

void assign(const Key&, const Node& node, policy::Refused& target) {
  put_list(node, target, add_statuses<policy::Refused>);
}

void assign(const Key&, const Node& node, policy::RetryOn& target) {
  put_list(node, target, [](const std::string& text, policy::RetryOn& on) {
    for (const policy::FailureWord& word : policy::failure_words) {
      if (text == word.text) on.*word.listed = true;
    }
    if (const auto call = call_status(text); call && *call != policy::GrpcStatus::ok)
      on.calls.set(static_cast<std::size_t>(*call));
    add_statuses(text, on);
  });
}

void assign(const Key&, const Node& node, policy::IdempotencyRule& target) {
  Report ignored;
  read_rule(node, {}, ignored, target);
}

void assign(const Key&, const Node& node, std::vector<policy::BodyPredicate>& target) {
  Report ignored;
  read_predicates(node, {}, ignored, target);
}

void assign(const Key& key, const Node& node, std::vector<std::string>& target) {
  put_list(node, target, [&key](const std::string& text, std::vector<std::string>& names) {
    names.push_back(key.item == Kind::version_field ? policy::lower(text) : text);
  });
}

void assign(const Key& key, const Node& node, std::vector<policy::Condition>& target) {
  Report ignored;
  const bool headers = last_part(key.path) == "headers";
  read_pairs(node, headers ? policy::Condition::Kind::header : policy::Condition::Kind::query, {}, ignored,
             target);
}

}  // namespace reprise::config
