#include "proxy/tools/simulate/service_config.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <optional>

#include "config/keys/scalar.hpp"
#include "proxy/http/grpc/status.hpp"

namespace reprise::tools {
namespace {

namespace json = boost::json;
using policy::GrpcStatus;
using policy::RoutePolicy;

constexpr unsigned most_attempts = 5;  // gRPC limits maxAttempts to 5

/// Thrown and caught only in this file.
struct Fault {
  std::string key;
  std::string why;
};

/// An object of the config, and its place.
struct Part {
  const json::object& of;
  std::string key;

  std::string place(std::string_view name) const {
    return key + (key.empty() ? "" : ".") + std::string(name);
  }
  const json::value* find(std::string_view name) const { return of.if_contains(name); }
  const json::value& demand(std::string_view name, const std::string& form) const {
    const json::value* const found = find(name);
    if (found == nullptr) throw Fault{place(name), "is missing: write " + form};
    return *found;
  }
};

Part part_of(const json::value& value, std::string key) {
  const json::object* const object = value.if_object();
  if (object == nullptr) throw Fault{std::move(key), "is not an object: write {...}"};
  return {*object, std::move(key)};
}

std::optional<Part> find_part(const Part& part, std::string_view name) {
  const json::value* const found = part.find(name);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return part_of(*found, part.place(name));
}

Duration read_span(const Part& part, std::string_view name, std::optional<Duration> otherwise,
                   bool above_zero) {
  const std::string form = "a duration in seconds, such as \"0.1s\"";
  if (otherwise && part.find(name) == nullptr) return *otherwise;
  const json::string* const text = part.demand(name, form).if_string();
  std::string_view digits =
      text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
  const bool ends = digits.ends_with('s');
  if (ends) digits.remove_suffix(1);
  const auto seconds = config::parse_number(digits);
  constexpr double most = 1e8;
  if (!ends || !seconds || *seconds.value > most)
    throw Fault{part.place(name), "is not a duration: write " + form};
  const Duration span(static_cast<Duration::rep>(*seconds.value * 1e9));
  if (above_zero && span <= Duration::zero()) throw Fault{part.place(name), "must be above 0: write " + form};
  return span;
}

double read_number(const Part& part, std::string_view name, double highest, const std::string& form) {
  json::error_code failed;
  const auto number = part.demand(name, form).to_number<double>(failed);
  if (failed || !(number > 0) || number > highest)
    throw Fault{part.place(name), "is out of range: write " + form};
  return number;
}

unsigned read_attempts(const Part& part, std::vector<std::string>& notes) {
  const std::string form = "a whole number from 2 to 5";
  json::error_code failed;
  const auto number = part.demand("maxAttempts", form).to_number<std::int64_t>(failed);
  if (failed || number < 2) throw Fault{part.place("maxAttempts"), "is out of range: write " + form};
  if (number > most_attempts)
    notes.push_back(part.place("maxAttempts") + " is " + std::to_string(number) + ": gRPC limits it to 5.");
  return static_cast<unsigned>(std::min<std::int64_t>(number, most_attempts));
}

GrpcStatus read_status(const json::value& value, const std::string& key) {
  std::optional<GrpcStatus> status;
  if (const json::string* const word = value.if_string()) {
    status = policy::parse_grpc_status({word->data(), word->size()});
  } else if (value.is_int64()) {
    status = policy::parse_grpc_status(std::to_string(value.get_int64()));
  }
  if (!status)
    throw Fault{key, "is not a status: write a name such as \"UNAVAILABLE\", or a number from 0 to 16"};
  return *status;
}

/// Statuses with which a call is retried.
struct Codes {
  policy::RetryOn on;
  std::string words;  ///< such as `unavailable, aborted`
};

Codes read_codes(const Part& part, std::string_view name, bool may_be_empty) {
  const std::string form = "a list of statuses, such as [\"UNAVAILABLE\"]";
  Codes codes;
  if (may_be_empty && part.find(name) == nullptr) return codes;
  const json::array* const list = part.demand(name, form).if_array();
  if (list == nullptr || (list->empty() && !may_be_empty))
    throw Fault{part.place(name), "is not a list: write " + form};
  for (std::size_t i = 0; i < list->size(); ++i) {
    const GrpcStatus status = read_status((*list)[i], part.place(name) + "[" + std::to_string(i) + "]");
    codes.on.calls.set(static_cast<std::size_t>(status));
    codes.words.append(codes.words.empty() ? "" : ", ").append(policy::word(status));
  }
  for (int status = 400; status < 600; ++status) {
    if (codes.on.calls.test(static_cast<std::size_t>(http::status_of_http(status))))
      codes.on.statuses.set(static_cast<std::size_t>(status));
  }
  // A call that finds no connection, or loses it, ends with `unavailable`.
  const bool lost = codes.on.calls.test(static_cast<std::size_t>(GrpcStatus::unavailable));
  codes.on.connect = codes.on.tls = codes.on.reset = lost;
  return codes;
}

// Returns the policy of a client that sends each call once. reprise's own limits do not apply to a client.
RoutePolicy once() {
  RoutePolicy policy;
  policy.mode = policy::Mode::off;
  policy.idempotent.kind = policy::IdempotencyRule::Kind::always;
  policy.budget.reset();
  policy.circuit.reset();
  policy.while_paused = policy::WhilePaused::go;
  policy.ambiguous = policy::Ambiguous::response;
  policy.retry.deadline.reset();
  policy.retry.retry_after.maximum = std::chrono::hours(24);
  policy.retry.inner = policy::Nested::allow;
  return policy;
}

// Draws each wait from 0.8 to 1.2 of its step, as gRPC A6 has asked since 2024. The step is at most the
// maximum, but the wait may be longer.
void spread_around_step(policy::Backoff& backoff) {
  constexpr double lowest = 0.8, highest = 1.2;
  const auto raised = [](Duration step) {
    return Duration(std::llround(static_cast<double>(step.count()) * highest));
  };
  backoff.jitter = policy::Jitter::equal;
  backoff.initial = raised(backoff.initial);
  backoff.maximum = raised(backoff.maximum);
  backoff.lowest = lowest / highest;
}

std::string read_retries(const Part& part, RoutePolicy& policy, std::vector<std::string>& notes) {
  policy.mode = policy::Mode::active;
  policy.retry.max_attempts = read_attempts(part, notes);
  policy::Backoff& backoff = policy.retry.backoff;
  backoff.initial = read_span(part, "initialBackoff", std::nullopt, true);
  backoff.maximum = read_span(part, "maxBackoff", std::nullopt, true);
  backoff.multiplier = read_number(part, "backoffMultiplier", 1e6, "a number above 0, such as 2");
  if (backoff.multiplier < 1) {
    notes.push_back(part.place("backoffMultiplier") + " is below 1: it is simulated as 1.");
    backoff.multiplier = 1;
  }
  backoff.initial = std::min(backoff.initial, backoff.maximum);
  const Codes codes = read_codes(part, "retryableStatusCodes", false);
  policy.retry.on = codes.on;
  if (part.find("perAttemptRecvTimeout") != nullptr)
    policy.of_calls.attempt_timeout = read_span(part, "perAttemptRecvTimeout", std::nullopt, true);
  std::string sentence = "at most " + std::to_string(*policy.retry.max_attempts) + " attempts, waits of " +
                         config::duration_text(backoff.initial) + ", times " +
                         config::number_text(backoff.multiplier) + " up to " +
                         config::duration_text(backoff.maximum) +
                         ", each 20 % shorter to 20 % longer, after " + codes.words;
  spread_around_step(backoff);
  return sentence;
}

std::string read_hedges(const Part& part, RoutePolicy& policy, std::vector<std::string>& notes) {
  policy.mode = policy::Mode::active;
  policy.retry.max_attempts = read_attempts(part, notes);
  const Duration after = read_span(part, "hedgingDelay", Duration::zero(), false);
  policy.hedge.emplace().after = after;
  const Codes codes = read_codes(part, "nonFatalStatusCodes", true);
  policy.retry.on = codes.on;
  policy.retry.backoff = {Duration::zero(), 1, Duration::zero(), policy::Jitter::none};
  notes.push_back(
      part.key +
      ": one hedge is simulated, as reprise sends it; further attempts follow at once after a status in "
      "nonFatalStatusCodes.");
  return "at most " + std::to_string(*policy.retry.max_attempts) + " attempts, a hedge after " +
         config::duration_text(after) + (codes.words.empty() ? "" : ", retries after " + codes.words);
}

std::string_view name_in(const Part& part, std::string_view name) {
  const json::value* const found = part.find(name);
  if (found == nullptr || found->is_null()) return {};
  const json::string* const text = found->if_string();
  if (text == nullptr) throw Fault{part.place(name), "is not a string: write \"shop.Catalog\""};
  return {text->data(), text->size()};
}

// Returns the pattern of a name: `shop.Catalog/GetItem`, `shop.Catalog/*` or `*/*`.
policy::GrpcPattern read_name(const Part& part) {
  const std::string_view service = name_in(part, "service");
  const std::string_view method = name_in(part, "method");
  if (service.empty() && !method.empty())
    throw Fault{part.place("service"), "is missing: a method needs its service, such as \"shop.Catalog\""};
  const std::string text =
      std::string(service.empty() ? "*" : service) + "/" + std::string(method.empty() ? "*" : method);
  const bool has_star =
      service.find('*') != std::string_view::npos || method.find('*') != std::string_view::npos;
  const auto pattern = policy::GrpcPattern::parse(text);
  if (!pattern || has_star)
    throw Fault{part.key, "is not a name: write {\"service\": \"shop.Catalog\", \"method\": \"GetItem\"}"};
  return *pattern;
}

// Returns the order in which gRPC looks for names: a method before its service, and that before all services.
int order_of(const policy::Route& route) {
  const std::string& text = route.match.grpc.front().text();
  return text == "*/*" ? 2 : text.ends_with("/*") ? 1 : 0;
}

void read_method(const Part& part, ServiceConfig& config) {
  RoutePolicy policy = once();
  const auto retries = find_part(part, "retryPolicy");
  const auto hedges = find_part(part, "hedgingPolicy");
  if (retries && hedges)
    throw Fault{part.key, "has a retryPolicy and a hedgingPolicy: write only one of them"};
  std::string sentence = retries  ? read_retries(*retries, policy, config.notes)
                         : hedges ? read_hedges(*hedges, policy, config.notes)
                                  : "each call is sent once";
  if (part.find("timeout") != nullptr) {
    const Duration timeout = read_span(part, "timeout", std::nullopt, true);
    policy.retry.deadline = timeout;
    policy.of_calls.response_timeout = timeout;
    if (!policy.of_calls.attempt_timeout) policy.of_calls.attempt_timeout = timeout;
    sentence += "; the call ends after " + config::duration_text(timeout);
  }
  const json::array* const names = part.demand("name", "[{\"service\": \"shop.Catalog\"}]").if_array();
  if (names == nullptr || names->empty())
    throw Fault{part.place("name"),
                "names no method: write [{\"service\": \"shop.Catalog\"}], or [{}] for all"};
  std::string all;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string key = part.place("name") + "[" + std::to_string(i) + "]";
    policy::Route route;
    route.match.grpc.push_back(read_name(part_of((*names)[i], key)));
    route.name = route.match.grpc.front().text();
    route.policy = policy;
    const bool twice = std::any_of(config.routes.begin(), config.routes.end(),
                                   [&](const policy::Route& other) { return other.name == route.name; });
    if (twice) throw Fault{key, "is " + route.name + ", which is named already: write each name once"};
    all.append(all.empty() ? "" : ", ").append(route.name);
    config.routes.push_back(std::move(route));
  }
  config.sentences.push_back(all + ": " + sentence);
}

void read_throttling(const Part& part, ServiceConfig& config) {
  const double tokens = read_number(part, "maxTokens", 1000, "a number above 0, at most 1000, such as 10");
  const double ratio = read_number(part, "tokenRatio", 1000, "a number above 0, such as 0.1");
  config.throttling = config::number_text(tokens) + " tokens; a failed attempt takes 1, a success returns " +
                      config::number_text(ratio) + "; no retry with " + config::number_text(tokens / 2) +
                      " tokens or fewer";
}

ServiceConfig read_config(const Part& part) {
  ServiceConfig config;
  const json::value& methods = part.demand("methodConfig", "[{\"name\": [{}], \"retryPolicy\": {...}}]");
  const json::array* const list = methods.if_array();
  if (list == nullptr || list->empty())
    throw Fault{"methodConfig", "is not a list of methods: write [{\"name\": [{}], \"retryPolicy\": {...}}]"};
  for (std::size_t i = 0; i < list->size(); ++i)
    read_method(part_of((*list)[i], "methodConfig[" + std::to_string(i) + "]"), config);
  std::stable_sort(config.routes.begin(), config.routes.end(),
                   [](const policy::Route& a, const policy::Route& b) { return order_of(a) < order_of(b); });
  if (const auto throttling = find_part(part, "retryThrottling")) read_throttling(*throttling, config);
  return config;
}

ServiceConfigFault no_json(std::string_view text, std::size_t at, const json::error_code& why) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const std::size_t line = before.rfind('\n');
  ServiceConfigFault fault;
  fault.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  fault.column = before.size() - (line == std::string_view::npos ? 0 : line + 1) + 1;
  fault.why =
      "this is not JSON (" + why.message() + "): a service config is a JSON object with \"methodConfig\"";
  return fault;
}

}  // namespace

std::variant<ServiceConfig, ServiceConfigFault> read_service_config(std::string_view text) {
  json::stream_parser parser;
  json::error_code failed;
  const std::size_t at = parser.write_some(text.data(), text.size(), failed);
  if (!failed) parser.finish(failed);
  if (!failed && text.find_first_not_of(" \t\r\n", at) != std::string_view::npos)
    failed = json::error::extra_data;
  if (failed) return no_json(text, at, failed);
  const json::value value = parser.release();
  try {
    return read_config(part_of(value, {}));
  } catch (Fault& fault) {
    return ServiceConfigFault{0, 0, std::move(fault.key), std::move(fault.why)};
  }
}

std::string to_line(const ServiceConfigFault& fault, const std::string& file) {
  if (fault.line > 0) {
    return file + ":" + std::to_string(fault.line) + ":" + std::to_string(fault.column) +
           ": error: " + fault.why;
  }
  return file + ": error: " + (fault.key.empty() ? "the service config" : fault.key) + " " + fault.why;
}

Subject subject_of(const ServiceConfig& config) {
  policy::Route rest;
  rest.name = "default";
  rest.policy = once();
  return {"service config",
          config.throttling.empty()
              ? "a gRPC client with the service config, without reprise"
              : "a gRPC client with the service config, without its throttling and without reprise",
          policy::RouteTable(config.routes, std::move(rest))};
}

}  // namespace reprise::tools
