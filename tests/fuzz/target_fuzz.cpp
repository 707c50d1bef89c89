// Fuzz target: authorities and request targets. The parts that a parser returns, joined, give the original
// text. All parsers of the proxy agree on the parts.
#include <algorithm>
#include <array>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/http/message/target.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::array<std::string_view, 4> methods{"GET", "OPTIONS", "CONNECT", "TRACE"};

bool is_host_byte(char c, bool v6) {
  const std::string_view letters =
      v6 ? "0123456789abcdefABCDEF:." : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";
  return letters.find(c) != std::string_view::npos;
}

std::string spelled(const Authority& authority) {
  std::string text(authority.host);
  if (authority.literal_v6) text = "[" + text + "]";
  return authority.port_written ? text + ":" + std::to_string(authority.port) : text;
}

bool same(const Authority& a, const Authority& b) {
  return a.host == b.host && a.port == b.port && a.literal_v6 == b.literal_v6;
}

void judge_authority(std::string_view text) {
  const auto split = split_authority(text, 80);
  const auto mandatory = split_authority(text, 0);
  if (std::holds_alternative<Rejection>(split)) {
    law(std::holds_alternative<Rejection>(mandatory), "what is no authority is none for CONNECT");
    return;
  }
  const Authority& found = std::get<Authority>(split);
  law(!found.host.empty() && found.host.size() <= 254 && lies_in(found.host, text),
      "a host is a part of the text");
  for (const char c : found.host) law(is_host_byte(c, found.literal_v6), "a host has bytes of hosts alone");
  law(text.find_first_of("@,/?#%\\ \t\r\n") == std::string_view::npos,
      "nothing in an authority that others split at");
  law(found.port != 0 && (found.port_written || found.port == 80), "a port is one");
  law(found.literal_v6 == text.starts_with('['), "brackets mean an IPv6 address");
  law(std::holds_alternative<Authority>(mandatory) == found.port_written, "CONNECT needs the port");
  if (found.port_written) law(same(std::get<Authority>(mandatory), found), "and gets the same");
  const std::string again = spelled(found);
  const auto second = split_authority(again, 80);
  law(std::holds_alternative<Authority>(second) && same(std::get<Authority>(second), found),
      "its plain spelling is the same");
  law(text.starts_with(found.port_written ? again.substr(0, again.rfind(':')) : again), "and begins like it");
}

void judge_path(const Target& target, std::string_view rest) {
  law(rest.starts_with(target.path_and_query), "what goes upstream is the beginning of what came");
  const std::string_view behind = rest.substr(target.path_and_query.size());
  law(behind.empty() || behind.front() == '#', "and all of it but a fragment");
  law(target.path_and_query.find('#') == std::string_view::npos, "a fragment is never forwarded");
  const bool has_query = target.path.size() < target.path_and_query.size();
  const std::string again = std::string(target.path) + (has_query ? "?" : "") + std::string(target.query);
  law(again == target.path_and_query && target.path.find('?') == std::string_view::npos,
      "path and query are the whole");
}

/// A known scheme, as named by RFC 9110 section 4.2 and RFC 6455 section 3.
struct KnownScheme {
  std::string_view prefix;
  bool tls;
};
constexpr std::array<KnownScheme, 4> known_schemes{
    {{"http://", false}, {"https://", true}, {"ws://", false}, {"wss://", true}}};

void judge_absolute(std::string_view text) {
  const auto split = split_absolute(text);
  const auto* target = std::get_if<Target>(&split);
  const std::string start = lowered(text.substr(0, 8));
  const auto* const scheme =
      std::find_if(known_schemes.begin(), known_schemes.end(),
                   [&](const KnownScheme& known) { return start.starts_with(known.prefix); });
  if (scheme == known_schemes.end()) {
    law(target == nullptr && std::get<Rejection>(split) == Rejection::bad_scheme,
        "an unknown scheme is called so");
    return;
  }
  if (target == nullptr) {
    law(std::get<Rejection>(split) != Rejection::bad_scheme, "a known scheme is not called unknown");
    return;
  }
  law(target->https == scheme->tls, "the scheme is what is written");
  const std::string_view rest = text.substr(scheme->prefix.size());
  law(rest.starts_with(target->authority), "the authority follows the scheme");
  const auto authority = split_authority(target->authority, target->https ? 443 : 80);
  law(std::holds_alternative<Authority>(authority) && same(std::get<Authority>(authority), target->origin),
      "the origin is that of its authority");
  judge_path(*target, rest.substr(target->authority.size()));
  const auto again = split_absolute(std::string(target->https ? "HTTPS://" : "HTTP://") + std::string(rest));
  law(std::holds_alternative<Target>(again), "schemes have no case");
}

/// Returns the request line that is sent upstream, or an empty string if the request is not forwarded.
std::string outgoing(const RequestHead& head, Intake intake, std::string_view prefix) {
  auto* forward = std::get_if<Forward>(&intake);
  if (forward == nullptr) return {};
  std::string joined, out;
  put_below(prefix, forward->target, joined);
  write_request_head(head, *forward, "reprise-x1", false, out);
  return out;
}

void judge_outgoing(const RequestHead& head, const Intake& intake, std::string_view prefix) {
  const std::string out = outgoing(head, intake, prefix);
  if (out.empty()) return;
  RequestHead again;
  const std::string whole = out + "\r\n";
  law(parse_request(whole, {}, again) == Parsed{Progress::complete}, "what goes upstream is a request");
  law(again.method == head.method, "with the same method");
  law(again.target.starts_with('/') || again.target == "*", "in origin-form");
  // With Max-Forwards: 0 the gateway itself responds, which is not a rejection.
  law(!std::holds_alternative<Rejected>(take_gateway(again, {"h", 80, false, {}})),
      "that a gateway does not refuse");
  const Forward& forward = std::get<Forward>(intake);
  law(again.target.ends_with(forward.target.path_and_query) || again.target == "*",
      "whose target is as it came");
}

void judge_intake(std::string_view target, std::string_view method) {
  const std::string text =
      std::string(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: h:81\r\n\r\n");
  RequestHead head;
  if (parse_request(text, {}, head) != Parsed{Progress::complete} || head.fields.size() != 1) return;
  const Intake forward = take_forward(head, {{443, 443}, {8000, 9000}});
  judge_outgoing(head, forward, {});
  if (const auto* connect = std::get_if<Connect>(&forward)) {
    law(method == "CONNECT" && connect->authority == head.target, "a tunnel is for CONNECT");
    law(connect->port == 443 || (connect->port >= 8000 && connect->port <= 9000),
        "and to a port that is allowed");
  }
  if (const auto* taken = std::get_if<Forward>(&forward)) {
    law(taken->https == taken->target.https && taken->port == taken->target.origin.port &&
            taken->server_name == taken->target.origin.host,
        "a forward goes where its target says");
    law(taken->host_field.empty() || taken->host_field == taken->target.authority, "and Host says the same");
  }
  judge_outgoing(head, take_gateway(head, {"up", 8080, false, "up:8080"}), "/prefix/");
  judge_outgoing(head, take_gateway(head, {"up", 8080, false, {}}), {});
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_authority(text);
  judge_absolute(text);
  const auto origin = reprise::http::split_origin(text);
  law(std::holds_alternative<reprise::http::Target>(origin) == (text == "*" || text.starts_with('/')),
      "origin-form begins with a slash");
  if (const auto* target = std::get_if<reprise::http::Target>(&origin)) judge_path(*target, text);
  judge_intake(text, methods[mixed(text) % methods.size()]);
  return 0;
}
