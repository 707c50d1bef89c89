#include "config/keys/patterns.hpp"

#include <algorithm>
#include <array>

#include "config/keys/address.hpp"
#include "config/presets/presets.hpp"
#include "config/yaml/raw_text.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

using policy::Condition;

// Returns true for a tchar (RFC 9110 5.6.2).
bool is_token_part(char c) {
  return is_alphanumeric(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_part);
}

// Returns true for printable ASCII, and for bytes above ASCII, because some clients do not percent-encode
// them in targets.
bool is_visible(char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; }
bool is_query_part(char c) { return is_visible(c) && c != '&' && c != '#'; }
bool is_path_part(char c) { return is_visible(c) && c != '?' && c != '#'; }

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

Parsed<Condition> check_header(Condition condition) {
  if (!is_token(condition.name))
    return refuse<Condition>("has no valid header name: write NAME or NAME=value");
  const std::string& value = condition.value;
  if (value.starts_with(' ') || value.ends_with(' '))
    return refuse<Condition>(
        "has spaces around its value, which are not part of a header value: remove them",
        condition.name + "=" + value.substr(std::min(value.find_first_not_of(' '), value.size())));
  return {std::move(condition), {}, {}};
}

Parsed<Condition> check_query(Condition condition) {
  if (condition.name.empty()) return refuse<Condition>("has no parameter name: write NAME or NAME=value");
  const auto plain = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), is_query_part);
  };
  if (condition.name == "*" && !condition.value.empty() && condition.value != "*")
    return refuse<Condition>("has a value: the name * means any parameter without a value", "*");
  if (condition.name.starts_with('!') && (condition.name.size() == 1 || !condition.value.empty()))
    return refuse<Condition>(
        "has no valid list of names after its !: write !NAME,PREFIX* to match any parameter except these");
  if (!plain(condition.name) || !plain(condition.value))
    return refuse<Condition>("has a space, & or # in it: parameters are compared percent-encoded, as sent");
  return {std::move(condition), {}, {}};
}

// Parses `NAME` or `NAME=value`. `check` validates the name and the value.
Parsed<Condition> parse_pair(Condition::Kind kind, std::string_view text,
                             Parsed<Condition> (*check)(Condition)) {
  Condition condition{kind, std::string(text), {}};
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    condition.name = std::string(text.substr(0, equals));
    condition.value = std::string(text.substr(equals + 1));
    if (condition.value.empty())
      return refuse<Condition>("has no value after its =: an empty value is not a condition", condition.name);
  }
  return check(std::move(condition));
}

}  // namespace

Parsed<std::string> parse_name(std::string_view text) {
  constexpr std::size_t longest = 64;
  const auto allowed = [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '_'; };
  if (text.empty() || text.size() > longest || !std::all_of(text.begin(), text.end(), allowed))
    return refuse<std::string>(
        "is not a valid name: use 1 to 64 letters, digits, dots, dashes and underscores");
  return {std::string(text), {}, {}};
}

Parsed<std::string> parse_route_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  const bool of_preset = slash != std::string_view::npos && preset_text(text.substr(0, slash)).has_value();
  const auto name = parse_name(of_preset ? text.substr(slash + 1) : text);
  return name ? Parsed<std::string>{std::string(text), {}, {}} : name;
}

namespace {

/// Returns `*.example.com` for the forms `.example.com` and `*example.com` of other proxies.
std::string suffix_in(std::string_view text) {
  const std::size_t first = text.find_first_not_of("*.");
  if (first == std::string_view::npos || !parse_host(text.substr(first))) return {};
  return "*." + std::string(text.substr(first));
}

std::string host_in_url(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::string_view rest = text.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find_first_of("/:?#"));
  return parse_host(host) ? std::string(host) : std::string();
}

/// Suggests a path pattern for a regular expression or a glob, such as `/v1/**` for `^/v1/.*$` or `/v1/*`.
std::string path_in_pattern(std::string_view text) {
  while (!text.empty() && std::string_view("~^* ").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  if (text.ends_with('$')) text.remove_suffix(1);
  for (const std::string_view rest : {"(/.*)?", "(.*)", "/?.*", ".*", "**", "*"}) {
    if (!text.ends_with(rest)) continue;
    std::string path(text.substr(0, text.size() - rest.size()));
    path.append(path.ends_with('/') ? "**" : "/**");
    return policy::PathPattern::parse(path) && std::all_of(path.begin(), path.end(), is_path_part) ? path
                                                                                                   : "";
  }
  const std::string path(text);
  const bool is_plain = path.find_first_of("*()[]+\\|?#") == std::string::npos;
  return is_plain && policy::PathPattern::parse(path) ? path : std::string();
}

}  // namespace

Parsed<policy::HostPattern> parse_host_pattern(std::string_view text) {
  if (text == "*") return refuse<policy::HostPattern>("means every host: remove `host` to match every host");
  const bool wild = text.starts_with("*.");
  auto host = parse_host(wild ? text.substr(2) : text);
  if (host) return {policy::HostPattern{(wild ? "*." : "") + *host.value}, {}, {}};
  if (text.find('*') != std::string_view::npos)
    return refuse<policy::HostPattern>("has a * in the wrong place: only *.suffix is supported",
                                       suffix_in(text));
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && parse_host(text.substr(0, colon)) &&
      parse_whole(text.substr(colon + 1)))
    return refuse<policy::HostPattern>(
        "has a port: write `host` and `port` as separate keys",
        "host: " + std::string(text.substr(0, colon)) + ", port: " + std::string(text.substr(colon + 1)));
  return refuse<policy::HostPattern>(std::move(host.reason),
                                     text.starts_with('.') ? suffix_in(text) : host_in_url(text));
}

Parsed<policy::PathPattern> parse_path(std::string_view text) {
  if (text.find_first_of("?#") != std::string_view::npos)
    return refuse<policy::PathPattern>(
        "has a query or a fragment, which are not part of a path: use `query` to match a query",
        path_in_pattern(text));
  auto pattern = policy::PathPattern::parse(text);
  if (pattern && std::all_of(text.begin(), text.end(), is_path_part)) return {std::move(pattern), {}, {}};
  const bool relative = !text.empty() && is_alphanumeric(text.front());
  return refuse<policy::PathPattern>(
      "is not a path: a path starts with /, {x} is one segment, and ** may only be the last segment",
      relative && policy::PathPattern::parse("/" + std::string(text)) ? "/" + std::string(text)
                                                                      : path_in_pattern(text));
}

Parsed<std::string> parse_method(std::string_view text) {
  static constexpr std::array<std::string_view, 9> known{"GET",    "HEAD", "OPTIONS", "TRACE",  "PUT",
                                                         "DELETE", "POST", "PATCH",   "CONNECT"};
  if (text == "*") return refuse<std::string>("means every method: remove `methods` to match every method");
  if (!is_token(text)) return refuse<std::string>("is not a method: write a token such as POST");
  const std::string large = upper(text);
  if (large != text && std::find(known.begin(), known.end(), large) != known.end())
    return refuse<std::string>("is in the wrong case: methods are case-sensitive", large);
  return {std::string(text), {}, {}};
}

Parsed<policy::GrpcPattern> parse_grpc_method(std::string_view text) {
  using policy::GrpcPattern;
  if (auto pattern = GrpcPattern::parse(text)) return {std::move(pattern), {}, {}};
  const auto suggest = [](const std::string& meant) { return GrpcPattern::parse(meant) ? meant : ""; };
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (text.starts_with('/') && slashes == 2)
    return refuse<GrpcPattern>("begins with a slash: write SERVICE/METHOD",
                               suggest(std::string(text.substr(1))));
  if (slashes == 0)
    return refuse<GrpcPattern>("has no method: write SERVICE/METHOD, or SERVICE/* for every method",
                               suggest(std::string(text) + "/*"));
  if (text.ends_with('/') && slashes == 1)
    return refuse<GrpcPattern>("has no method: write SERVICE/METHOD, or SERVICE/* for every method",
                               suggest(std::string(text) + "*"));
  if (text.find('*') != std::string_view::npos && slashes == 1)
    return refuse<GrpcPattern>(
        "has a * in the wrong place: service and method may each begin or end with one *");
  return refuse<GrpcPattern>(
      "is not a gRPC method: write SERVICE/METHOD, such as shop.Catalog/GetItem, of letters, digits, _ and "
      ".");
}

Parsed<std::string> parse_version_field(std::string_view text) {
  // Response fields that cannot identify a version of the content: every response has them, they belong to
  // one connection, or their value may be equal for different contents.
  static constexpr std::array<std::string_view, 24> never{"accept-ranges",
                                                          "age",
                                                          "connection",
                                                          "content-encoding",
                                                          "content-language",
                                                          "content-length",
                                                          "content-location",
                                                          "content-range",
                                                          "content-type",
                                                          "cache-control",
                                                          "date",
                                                          "expires",
                                                          "keep-alive",
                                                          "proxy-authenticate",
                                                          "proxy-connection",
                                                          "proxy-status",
                                                          "retry-after",
                                                          "server",
                                                          "te",
                                                          "trailer",
                                                          "transfer-encoding",
                                                          "upgrade",
                                                          "vary",
                                                          "via"};
  if (!is_token(text))
    return refuse<std::string>("is not a field name: write a token such as x-goog-generation");
  const std::string name = policy::lower(text);
  if (name == "last-modified")
    return refuse<std::string>(
        "cannot be listed as a validator: remove it; if no other validator is present, a Last-Modified that "
        "is at least 60 s older than the response's Date is used anyway");
  if (std::find(never.begin(), never.end(), name) != never.end())
    return refuse<std::string>(
        "does not identify a version of the content: write a field that does, such as x-goog-generation");
  return {std::string(text), {}, {}};
}

Parsed<Condition> parse_condition(Condition::Kind kind, std::string_view text) {
  if (has_control(text)) return refuse<Condition>("has a line break or another control character in it");
  switch (kind) {
    case Condition::Kind::header: return parse_pair(kind, text, check_header);
    case Condition::Kind::query: return parse_pair(kind, text, check_query);
    case Condition::Kind::json:
      if (text.empty())
        return refuse<Condition>("has no key: write the name of a top-level key of the JSON body");
      break;
    case Condition::Kind::method:
      const auto method = parse_method(text);
      if (!method) return refuse<Condition>(method.reason, method.suggestion);
      break;
  }
  return {Condition{kind, std::string(text), {}}, {}, {}};
}

std::string condition_text(const Condition& condition) {
  return condition.value.empty() ? condition.name : condition.name + "=" + condition.value;
}

}  // namespace reprise::config
