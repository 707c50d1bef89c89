#include "proxy/tools/simulate/model/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/policy/match/status_range.hpp"

namespace reprise::tools {
namespace {

using policy::Cause;
using policy::Failed;
using policy::Stage;
using Complaint = std::optional<std::string>;

/// The parts of a text before and after the first separator; `behind` is absent if the text has no separator.
struct Halves {
  std::string_view before;
  std::optional<std::string_view> behind;
};

Halves split(std::string_view text, char sign) {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

// Returns the error message for an invalid part of a text. `reason` continues the message, such as `is not a
// port`.
std::string about(std::string_view part, const std::string& reason) {
  return "has a part \"" + std::string(part) + "\", which " + reason;
}

Complaint read_span(std::string_view text, Duration& target, bool above_zero) {
  const auto parsed = config::parse_duration(text);
  if (!parsed) return about(text, parsed.reason);
  if (above_zero && *parsed.value <= Duration::zero()) return about(text, "must be more than 0");
  if (*parsed.value > longest_run) return about(text, "is too long: at most 168h");
  target = *parsed.value;
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, Failed>, 3> failure_words{{
    {"refused", {Stage::connect, Cause::refused}},
    {"tls", {Stage::tls, Cause::closed}},
    {"reset", {Stage::await_head, Cause::reset}},
}};

constexpr const char* latency_forms =
    "is not a latency: write fixed:50ms, uniform:10ms,90ms, exp:50ms (mean) or lognormal:50ms,0.5 (median, "
    "sigma)";

Complaint read_lognormal(const Halves& numbers, Latency& made) {
  const auto sigma = config::parse_number(numbers.behind.value_or(""));
  if (!sigma || *sigma.value > 4) {
    return "needs sigma after a comma, a number from 0 to 4, such as lognormal:" +
           std::string(numbers.before) + ",0.5";
  }
  made.sigma = *sigma.value;
  return std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Complaint read_url(std::string_view url, RequestKind& kind) {
  const bool https = url.starts_with("https://");
  if (!https && !url.starts_with("http://"))
    return about(url, "is not a URL: write http://host/path, or Name:value for a header");
  url.remove_prefix(https ? 8 : 7);
  const std::size_t slash = std::min(url.find('/'), url.size());
  const Halves authority = split(url.substr(0, slash), ':');
  std::uint64_t port = https ? 443 : 80;
  if (authority.behind) {
    const auto parsed = config::parse_whole(*authority.behind);
    if (!parsed || *parsed.value == 0 || *parsed.value > 65535)
      return about(*authority.behind, "is not a port");
    port = *parsed.value;
  }
  if (authority.before.empty()) return about(url, "has no host");
  kind.host = authority.before;
  kind.port = static_cast<std::uint16_t>(port);
  const Halves target = split(url.substr(slash), '?');
  kind.path = target.before.empty() ? "/" : std::string(target.before);
  kind.query = target.behind.value_or("");
  return std::nullopt;
}

Complaint read_call_status(std::string_view text, Trouble& made, Trouble& target) {
  const auto status = policy::grpc_status_of(text.substr(policy::call_word_prefix.size()));
  if (!status || status == policy::GrpcStatus::ok) {
    std::string words;
    for (const std::string_view word : policy::names_of<policy::GrpcStatus>) {
      if (word != "ok") words.append(words.empty() ? "" : ", ").append(policy::call_word_prefix).append(word);
    }
    return about(text, "is not a failure of a gRPC call: write one of " + words);
  }
  policy::Responded ended{200, {}};
  ended.grpc = status;
  made.outcome = ended;
  target = made;
  return std::nullopt;
}

// Makes the kind a gRPC call. Precondition: the path of the kind is set.
Complaint make_call(RequestKind& kind) {
  const std::string_view name = std::string_view(kind.path).substr(1);
  if (!policy::GrpcPattern::parse(name) || name.find('*') != std::string_view::npos)
    return "names no method of gRPC: write \"GRPC shop.Catalog/GetItem 10%\" or \"GRPC "
           "http://host:50051/shop.Catalog/GetItem 10%\"";
  kind.call = true;
  kind.method = "POST";
  kind.fields.emplace_back("content-type", "application/grpc");
  return std::nullopt;
}

// Reads a part of a mix between the method and the share: a URL, a header, or the method of a gRPC call.
Complaint read_detail(std::string_view word, bool call, RequestKind& kind) {
  const Halves field = split(word, ':');
  if (word.find("://") == std::string_view::npos && field.behind) {
    kind.fields.emplace_back(field.before, *field.behind);
    return std::nullopt;
  }
  if (field.behind || !call) return read_url(word, kind);
  kind.path = (word.starts_with('/') ? "" : "/") + std::string(word);
  return std::nullopt;
}

bool is_method(std::string_view word) {
  return !word.empty() && word.size() <= 32 &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

}  // namespace

Complaint read_latency(std::string_view text, Latency& target) {
  const Halves named = split(text, ':');
  Latency made;
  if (!named.behind) {
    if (read_span(text, made.first, true)) return latency_forms;
    target = made;
    return std::nullopt;
  }
  const Halves numbers = split(*named.behind, ',');
  if (auto wrong = read_span(numbers.before, made.first, true)) return wrong;
  if (named.before == "lognormal") {
    made.kind = Latency::Kind::lognormal;
    if (auto wrong = read_lognormal(numbers, made)) return wrong;
  } else if (named.before == "uniform") {
    made.kind = Latency::Kind::uniform;
    if (!numbers.behind) return latency_forms;
    if (auto wrong = read_span(*numbers.behind, made.highest, true)) return wrong;
    if (made.highest < made.first) return "has a maximum below its minimum";
  } else if ((named.before == "exp" || named.before == "fixed") && !numbers.behind) {
    made.kind = named.before == "exp" ? Latency::Kind::exponential : Latency::Kind::fixed;
  } else {
    return latency_forms;
  }
  target = made;
  return std::nullopt;
}

Complaint read_trouble(std::string_view text, Trouble& target) {
  Trouble made;
  made.word = text;
  for (const auto& [word, failed] : failure_words) {
    if (word != text) continue;
    made.outcome = failed;
    target = made;
    return std::nullopt;
  }
  if (text == "hang") {
    made.hangs = true;
    target = made;
    return std::nullopt;
  }
  if (text.starts_with(policy::call_word_prefix)) return read_call_status(text, made, target);
  const auto status = config::parse_whole(text);
  if (!status || *status.value < 400 || *status.value > policy::highest_status)
    return about(text,
                 "is not a failure: write a status from 400 to 999, grpc-unavailable or another status of "
                 "gRPC, refused, tls, reset or hang");
  made.outcome = policy::Responded{static_cast<int>(*status.value), {}};
  target = made;
  return std::nullopt;
}

Complaint read_outage(std::string_view text, Outage& target) {
  const Halves halves = split(text, '+');
  if (!halves.behind)
    return "is not an outage: write its start and its length, such as 10s+5s or 10s+5s:refused";
  const Halves end = split(*halves.behind, ':');
  Outage made;
  if (auto wrong = read_span(halves.before, made.from, false)) return wrong;
  if (auto wrong = read_span(end.before, made.length, true)) return wrong;
  if (end.behind) {
    if (auto wrong = read_trouble(*end.behind, made.trouble)) return wrong;
  }
  target = made;
  return std::nullopt;
}

Complaint read_error(std::string_view text, ErrorShare& target) {
  const Halves halves = split(text, ':');
  const auto share = config::parse_ratio(halves.before);
  if (!share) return about(halves.before, share.reason);
  ErrorShare made{*share.value, {}};
  if (halves.behind) {
    if (auto wrong = read_trouble(*halves.behind, made.trouble)) return wrong;
  }
  target = made;
  return std::nullopt;
}

Complaint read_limit(std::string_view text, RateLimit& target) {
  const Halves halves = split(text, ':');
  const auto rate = config::parse_rate(halves.before);
  if (!rate) return about(halves.before, rate.reason);
  if (*rate.value <= 0) return about(halves.before, "lets no request through: write an outage instead");
  RateLimit made{*rate.value, std::nullopt};
  if (halves.behind) {
    const Halves hint = split(*halves.behind, '=');
    if (hint.before != "retry-after" || !hint.behind)
      return about(*halves.behind, "is not supported: write retry-after=2s");
    made.retry_after.emplace();
    if (auto wrong = read_span(*hint.behind, *made.retry_after, true)) return wrong;
  }
  target = made;
  return std::nullopt;
}

Complaint read_burst(std::string_view text, Burst& target) {
  const Halves halves = split(text, '+');
  const auto requests = config::parse_whole(halves.behind.value_or(""));
  if (!requests || *requests.value == 0 || *requests.value > 1'000'000)
    return "is not a burst: write its time and its number of requests (at most 1000000), such as 20s+1000";
  Burst made;
  if (auto wrong = read_span(halves.before, made.at, false)) return wrong;
  made.requests = *requests.value;
  target = made;
  return std::nullopt;
}

Complaint read_kind(std::string_view text, RequestKind& target) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2)
    return "is not a part of a mix: write a method and its share, such as \"GET 90%\", with a URL between "
           "them if routes differ";
  RequestKind made;
  if (!is_method(words.front())) return about(words.front(), "is not a method: write GET, POST ...");
  made.method = words.front();
  made.tunnel = made.method == "CONNECT";
  const auto share = config::parse_ratio(words.back());
  if (!share) return about(words.back(), share.reason);
  made.share = *share.value;
  const bool call = made.method == "GRPC";
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (auto wrong = read_detail(words[i], call, made)) return wrong;
  }
  if (call) {
    if (auto wrong = make_call(made)) return wrong;
  }
  target = std::move(made);
  return std::nullopt;
}

}  // namespace reprise::tools
