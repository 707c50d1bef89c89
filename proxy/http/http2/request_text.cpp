#include "proxy/http/http2/request_text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "proxy/http/grpc/call.hpp"
#include "proxy/http/http1/start_line.hpp"
#include "proxy/http/http2/field_lines.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/target.hpp"

namespace reprise::http {
namespace {

using Refusal = std::optional<Rejection>;

// The session of the upgrade request serves no other request, because what follows are the bytes of the
// WebSocket.
constexpr std::string_view upgrade_lines = "Connection: Upgrade, close\r\nUpgrade: websocket\r\n";
constexpr std::size_t upgrade_line_count = 3;  // with Sec-WebSocket-Key

Refusal judge_authority(std::string_view text) {
  const auto split = split_authority(text, http_port);
  const Rejection* const cause = std::get_if<Rejection>(&split);
  return cause == nullptr ? Refusal{} : Refusal{*cause};
}

// Compares host and port, because the spelling of a host may differ (RFC 9113 8.3.1).
bool is_same_authority(const std::string& one, const std::string& other, std::uint16_t default_port) {
  if (one == other) return true;
  const auto split_one = split_authority(one, default_port);
  const auto split_other = split_authority(other, default_port);
  const auto* const first = std::get_if<Authority>(&split_one);
  const auto* const second = std::get_if<Authority>(&split_other);
  return first != nullptr && second != nullptr && first->port == second->port &&
         ascii::same(first->host, second->host);
}

Refusal judge_method(std::string_view method) {
  if (!ascii::is_token(method)) return Rejection::bad_method;
  if (method.size() > longest_method) return Rejection::method_too_long;
  return std::nullopt;
}

Refusal judge_path(std::string_view path, std::size_t limit) {
  if (path.size() > limit) return Rejection::target_too_long;
  const bool has_form = path.starts_with('/') || path == "*";
  const bool has_bytes = std::all_of(path.begin(), path.end(), is_target_byte);
  return has_form && has_bytes ? Refusal{} : Refusal{Rejection::bad_target};
}

// Stores the value of a pseudo-field that was accepted.
Refusal store(std::string_view value, Refusal refusal, std::optional<std::string>& place) {
  if (place) return Rejection::bad_request_line;
  if (!refusal) place = value;
  return refusal;
}

}  // namespace

void RequestText::begin(Section section, const HeadLimits& limits) {
  check_.begin(section, limits);
  line_ = {};
  has_fields_ = false;
  host_.reset();
  lines_.clear();
  cookie_at_ = 0;
  cookie_.reset();
  hides_cookie_ = false;
  never_indexed_.clear();
  text_.clear();
}

void RequestText::add(std::string_view name, std::string_view value, bool never_indexed) {
  if (check_.rejection()) return;
  if (name.starts_with(':')) return add_pseudo(name, value, never_indexed);
  has_fields_ = true;
  check_.count_bytes(name.size() + value.size());
  check_.check(name, value);
  if (check_.rejection() || !check_.passes(name)) return;
  if (name == "cookie") return add_cookie(value, never_indexed);
  if (name == "host") return add_host(value);
  if (line_.is_extended() && name == "sec-websocket-key") return;
  if (never_indexed) list_never_indexed(name);
  check_.count_line();
  if (!check_.rejection()) ascii::append(lines_, name, ": ", value, "\r\n");
}

void RequestText::refuse(std::string_view name, std::string_view value) {
  add(name, value);
  check_.reject(Rejection::bad_field_value);
}

bool RequestText::begins_call() const {
  for (std::string_view left = lines_; line_.method == "POST" && !left.empty();) {
    std::string_view line = take_until(left, "\r\n");
    if (take_until(line, ": ") == "content-type") return is_grpc_type(line);
  }
  return false;
}

void RequestText::list_never_indexed(std::string_view name) {
  ascii::append(never_indexed_, never_indexed_.empty() ? "" : ",", name);
}

void RequestText::add_pseudo(std::string_view name, std::string_view value, bool never_indexed) {
  if (check_.section() == Section::trailers) return check_.reject(Rejection::bad_trailer);
  check_.count_bytes(name.size() + (name == ":path" ? 0 : value.size()));
  if (has_fields_) check_.reject(Rejection::bad_request_line);
  if (check_.rejection()) return;
  if (const Refusal refusal = store_pseudo(name, value)) check_.reject(*refusal);
  if (never_indexed) list_never_indexed(name);
}

Refusal RequestText::store_pseudo(std::string_view name, std::string_view value) {
  if (name == ":method") return store(value, judge_method(value), line_.method);
  if (name == ":path") return store(value, judge_path(value, check_.limits().target_bytes), line_.path);
  if (name == ":authority") return store(value, judge_authority(value), line_.authority);
  if (name == ":protocol") return store_protocol(value);
  if (name != ":scheme" || line_.https) return Rejection::bad_request_line;
  line_.https = ascii::same(value, "https");
  return *line_.https || ascii::same(value, "http") ? Refusal{} : Refusal{Rejection::bad_scheme};
}

Refusal RequestText::store_protocol(std::string_view value) {
  if (line_.is_extended() || !ascii::is_token(value)) return Rejection::bad_request_line;
  line_.protocol = ascii::same(value, "websocket") ? ConnectProtocol::websocket : ConnectProtocol::other;
  return std::nullopt;
}

void RequestText::add_cookie(std::string_view value, bool never_indexed) {
  if (never_indexed && !std::exchange(hides_cookie_, true)) list_never_indexed("cookie");
  if (!cookie_) {
    check_.count_line();
    cookie_at_ = lines_.size();
    cookie_.emplace();
  }
  if (!cookie_->empty() && !value.empty()) *cookie_ += "; ";
  *cookie_ += value;
}

void RequestText::add_host(std::string_view value) {
  if (host_) return check_.reject(Rejection::repeated_host);
  if (judge_authority(value)) return check_.reject(Rejection::bad_host);
  host_ = value;
}

Refusal RequestText::judge_line() const {
  if (!line_.method) return Rejection::bad_request_line;
  if (line_.is_tunnel()) {
    const bool complete = line_.authority && !line_.https && !line_.path;
    return complete ? Refusal{} : Refusal{Rejection::bad_request_line};
  }
  if (!line_.https || !line_.path) return Rejection::bad_request_line;
  if (line_.is_extended()) {
    if (!line_.is_connect() || !line_.authority) return Rejection::bad_request_line;
    if (check_.length()) return Rejection::connect_with_body;
  }
  if (line_.path == "*" && line_.method != "OPTIONS") return Rejection::bad_target;
  return std::nullopt;
}

Refusal RequestText::judge_host() const {
  if (!host_) return line_.authority ? Refusal{} : Refusal{Rejection::missing_host};
  if (!line_.authority) return std::nullopt;
  const std::uint16_t default_port = line_.https.value_or(true) ? https_port : http_port;
  const bool same = is_same_authority(*host_, *line_.authority, default_port);
  return same ? Refusal{} : Refusal{Rejection::bad_host};
}

// Returns the target. Precondition: the pseudo-fields are complete.
std::string RequestText::target() const {
  if (line_.is_tunnel()) return *line_.authority;
  if (form_ == TargetForm::origin) return *line_.path;
  std::string target = *line_.https ? "https://" : "http://";
  target += line_.authority ? *line_.authority : *host_;
  if (line_.path != "*") target += *line_.path;
  return target;
}

std::string_view RequestText::framing(bool end_stream) const {
  if (line_.is_connect() || check_.length()) return {};
  if (!end_stream) return "Transfer-Encoding: chunked\r\n";
  const bool expects_body = line_.method == "POST" || line_.method == "PUT" || line_.method == "PATCH";
  return expects_body ? "Content-Length: 0\r\n" : "";
}

void RequestText::end_head(bool end_stream) {
  Refusal refusal = judge_line();
  if (!refusal) refusal = judge_host();
  if (!refusal && end_stream && check_.length().value_or(0) > 0)
    refusal = Rejection::conflicting_content_length;
  if (refusal) check_.reject(*refusal);
  if (check_.rejection()) return;
  const std::string target = this->target();
  if (target.size() > check_.limits().target_bytes) check_.reject(Rejection::target_too_long);
  const std::string_view framing = this->framing(end_stream);
  const bool upgrades = line_.protocol == ConnectProtocol::websocket;
  check_.count_line();  // Host
  for (std::size_t i = 0; upgrades && i < upgrade_line_count; ++i) check_.count_line();
  if (!framing.empty()) check_.count_line();
  if (check_.rejection()) return;
  ascii::append(text_, line_.is_extended() ? "GET" : *line_.method, " ", target,
                " HTTP/1.1\r\nHost: ", line_.authority ? *line_.authority : *host_, "\r\n",
                upgrades ? upgrade_lines : "");
  const std::string_view lines = lines_;
  text_ += lines.substr(0, cookie_at_);
  if (cookie_) ascii::append(text_, "cookie: ", *cookie_, "\r\n");
  ascii::append(text_, lines.substr(cookie_at_), framing, "\r\n");
}

Refusal RequestText::end(bool end_stream) {
  if (check_.section() == Section::head) {
    end_head(end_stream);
  } else if (!end_stream) {
    check_.reject(Rejection::bad_trailer);
  } else if (!check_.rejection()) {
    text_ = lines_;
  }
  return check_.rejection();
}

}  // namespace reprise::http
