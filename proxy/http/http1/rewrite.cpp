// Writes outgoing heads: first the unchanged lines, then the proxy's own lines. Adjacent unchanged lines are
// copied together. Hop-by-hop lines are omitted.
#include "proxy/http/http1/rewrite.hpp"

#include <charconv>

#include "proxy/http/http1/guard.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/hop_by_hop.hpp"

namespace reprise::http {
namespace {

constexpr std::string_view chunked_line = "Transfer-Encoding: chunked\r\n";

void append_number(std::uint64_t number, std::string& out) {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, written.ptr);
}

void append_length(std::uint64_t length, std::string& out) {
  out += "Content-Length: ";
  append_number(length, out);
  out += "\r\n";
}

/// Copies adjacent lines of the buffer with a single append.
class Run {
 public:
  explicit Run(std::string& out) : out_(out) {}

  void add(const FieldLine& field) {
    if (field.line[field.name.size()] != ':') {  // a blank precedes the colon (row B7)
      flush();
      ascii::append(out_, field.name, ": ", field.value, "\r\n");
      return;
    }
    if (!run_.empty() && run_.data() + run_.size() == field.line.data()) {
      run_ = {run_.data(), run_.size() + field.line.size()};
      return;
    }
    flush();
    run_ = field.line;
  }
  void flush() {
    out_.append(run_);
    run_ = {};
  }

 private:
  std::string& out_;
  std::string_view run_;
};

void append_path(const RequestHead& head, const Target& target, std::string& out) {
  const std::string_view path = target.path_and_query;
  // For an OPTIONS request for the whole server, the target is `*` (RFC 9112 3.2.4).
  if (path == "*" || (path.empty() && head.method == "OPTIONS")) {
    out += '*';
    return;
  }
  if (!path.starts_with('/')) out += '/';
  out += path;
}

/// The hop-by-hop fields that a request keeps.
struct RequestHop {
  bool te_trailers = false;
  bool upgrade = false;
};

/// Returns true if the field line goes upstream unchanged.
bool stays(const FieldLine& field, const RequestHead& head, bool host_rewritten, const RequestHop& hop,
           const NamedByConnection& named) {
  switch (field.id) {
    case FieldId::connection:
    case FieldId::keep_alive:
    case FieldId::proxy_connection:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::te:
    case FieldId::transfer_encoding:
    case FieldId::content_length: return false;
    case FieldId::upgrade: return hop.upgrade;
    case FieldId::trailer: return head.over_http2 || head.framing.kind == Framing::Kind::chunked;
    case FieldId::host: return !host_rewritten;
    case FieldId::expect: return head.expects_continue();
    case FieldId::max_forwards: return head.method != "OPTIONS" && head.method != "TRACE";
    case FieldId::reprise: return !ascii::same(field.name, "reprise-attempt") && !named.removes(field.name);
    case FieldId::date:
    case FieldId::proxy_status:
    case FieldId::retry_after:
    case FieldId::via:
    case FieldId::other: break;
  }
  return !named.removes(field.name);
}

void append_request_framing(const Framing& framing, std::string& out) {
  if (framing.kind == Framing::Kind::chunked) out += chunked_line;
  if (framing.kind == Framing::Kind::length) append_length(framing.length, out);
}

void append_request_hop(const RequestHop& hop, std::string& out) {
  if (hop.te_trailers) out += "TE: trailers\r\n";
  if (hop.te_trailers && hop.upgrade) {
    out += "Connection: TE, upgrade\r\n";
  } else if (hop.te_trailers) {
    out += "Connection: TE\r\n";
  } else if (hop.upgrade) {
    out += "Connection: upgrade\r\n";
  }
}

RequestHop read_hop(const RequestHead& head, bool keep_upgrade) {
  RequestHop hop;
  hop.upgrade = keep_upgrade;
  for (const FieldLine& field : head.fields) {
    if (field.id == FieldId::te && head.minor_version == 1) {
      hop.te_trailers = hop.te_trailers || ascii::lists(field.value, "trailers");
    }
  }
  return hop;
}

void append_max_forwards(const RequestHead& head, std::string& out) {
  if (head.method != "OPTIONS" && head.method != "TRACE") return;
  const FieldLine* const field = head.find(FieldId::max_forwards);
  if (field == nullptr) return;
  // Max-Forwards is a number above 0 here: earlier code has responded to 0 and has rejected values that are
  // not numbers.
  const std::uint64_t left = ascii::decimal(field->value).value_or(0);
  out += "Max-Forwards: ";
  append_number(left == 0 ? 0 : left - 1, out);
  out += "\r\n";
}

/// Returns true if the Upgrade field of a response goes to the client (row N24): in a 101 or a final
/// response, unless the client uses HTTP/1.0, which has no upgrades. A 426 needs the field (RFC 9110
/// 15.5.22).
bool may_forward_upgrade(const ResponseHead& head, const ResponseRewrite& rewrite) {
  return (head.status == 101 || head.status >= 200) && rewrite.client_minor_version != 0;
}

/// Returns true if the field line goes to the client unchanged.
bool stays(const FieldLine& field, const ResponseHead& head, const ResponseRewrite& rewrite,
           const NamedByConnection& named) {
  switch (field.id) {
    case FieldId::connection:
    case FieldId::content_length:
    case FieldId::keep_alive:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_connection:
    case FieldId::reprise:
    case FieldId::te:
    case FieldId::transfer_encoding: return false;
    case FieldId::upgrade: return may_forward_upgrade(head, rewrite);
    case FieldId::trailer: return rewrite.over_http2 || rewrite.chunked;
    case FieldId::date:
    case FieldId::expect:
    case FieldId::host:
    case FieldId::max_forwards:
    case FieldId::proxy_status:
    case FieldId::retry_after:
    case FieldId::via:
    case FieldId::other: break;
  }
  if (rewrite.drop_alt_svc && ascii::same(field.name, "alt-svc")) return false;
  return !named.removes(field.name);
}

void append_response_framing(const ResponseHead& head, const ResponseRewrite& rewrite, std::string& out) {
  if (rewrite.chunked) {
    out += chunked_line;
    return;
  }
  if (head.framing.kind == Framing::Kind::length) {
    append_length(head.framing.length, out);
    return;
  }
  // A 304 and a response to HEAD may have a Content-Length, although no body is sent. A 1xx and a 204 must
  // not have one (RFC 9110 8.6).
  const bool sends_length = head.framing.kind == Framing::Kind::none && head.status >= 200 &&
                            head.status != 204 && head.find(FieldId::transfer_encoding) == nullptr;
  const FieldLine* const field = sends_length ? head.find(FieldId::content_length) : nullptr;
  if (field == nullptr) return;
  if (const auto length = read_content_length_list(field->value)) append_length(*length, out);
}

std::string_view version_of(bool over_http2, unsigned minor_version) {
  if (over_http2) return "2.0";
  return minor_version == 0 ? "1.0" : "1.1";
}

}  // namespace

void write_request_head(const RequestHead& head, const Forward& forward, std::string_view via_pseudonym,
                        bool keep_upgrade, std::string& out) {
  const NamedByConnection named(head.fields);
  const RequestHop hop = read_hop(head, keep_upgrade);
  const bool host_rewritten = !forward.host_field.empty();
  out += head.method;
  out += ' ';
  append_path(head, forward.target, out);
  out += " HTTP/1.1\r\n";
  if (host_rewritten) ascii::append(out, "Host: ", forward.host_field, "\r\n");
  Run run(out);
  for (const FieldLine& field : head.fields) {
    if (stays(field, head, host_rewritten, hop, named)) run.add(field);
  }
  run.flush();
  append_request_framing(head.framing, out);
  append_request_hop(hop, out);
  append_max_forwards(head, out);
  if (!via_pseudonym.empty()) append_via(version_of(head), via_pseudonym, out);
}

std::string_view version_of(const RequestHead& head) {
  return version_of(head.over_http2, head.minor_version);
}

std::string_view version_of(const ResponseHead& head) {
  return version_of(head.over_http2, head.minor_version);
}

void append_via(std::string_view version, std::string_view pseudonym, std::string& out) {
  ascii::append(out, "Via: ", version, " ", pseudonym, "\r\n");
}

void frame_by_length(std::uint64_t length, std::string& head) {
  std::string framed;
  for (std::string_view rest = head; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find("\r\n") + 2);
    rest.remove_prefix(line.size());
    if (line == chunked_line) {
      append_length(length, framed);
    } else if (!ascii::starts_with(line, "trailer:")) {
      framed += line;
    }
  }
  head.swap(framed);
}

void write_response_head(const ResponseHead& head, const ResponseRewrite& asked, std::string& out) {
  ResponseRewrite rewrite = asked;
  if (rewrite.client_minor_version ==
      0) {  // RFC 9112 9.3: HTTP/1.0 has no chunked coding, so the connection is closed after the body
    rewrite.chunked = false;
    rewrite.close = true;
  }
  const NamedByConnection named(head.fields);
  out += "HTTP/1.1 ";
  append_number(static_cast<std::uint64_t>(head.status), out);
  ascii::append(out, " ", head.reason, "\r\n");
  Run run(out);
  bool upgrade = false;
  for (const FieldLine& field : head.fields) {
    if (!stays(field, head, rewrite, named)) continue;
    upgrade = upgrade || field.id == FieldId::upgrade;
    const auto changed = rewrite.gateway == nullptr ? std::optional<std::string>()
                                                    : value_through(*rewrite.gateway, head.status, field);
    if (changed) {
      run.flush();
      ascii::append(out, field.name, ": ", *changed, "\r\n");
    } else {
      run.add(field);
    }
  }
  run.flush();
  append_response_framing(head, rewrite, out);
  if (head.status >= 200 && head.find(FieldId::date) == nullptr)
    ascii::append(out, "Date: ", rewrite.date, "\r\n");
  append_via(version_of(head), rewrite.via_pseudonym, out);
  const bool close = rewrite.close && head.status != 101;
  if (upgrade || close) {
    ascii::append(out, "Connection: ", upgrade ? "upgrade" : "close",
                  upgrade && close ? ", close\r\n" : "\r\n");
  }
  out += rewrite.extra_fields;
  out += "\r\n";
}

void append_trailers(std::string_view trailers, const std::vector<FieldLine>& head_fields, std::string& out) {
  const NamedByConnection named(head_fields);
  while (!trailers.empty()) {
    const std::size_t end = trailers.find("\r\n");
    const std::string_view line = trailers.substr(0, end == std::string_view::npos ? end : end + 2);
    if (!named.removes(line.substr(0, line.find(':')))) out += line;
    trailers.remove_prefix(line.size());
  }
}

}  // namespace reprise::http
