// Writes the proxy's own response to an OPTIONS or TRACE request that must not be forwarded further.
#include "proxy/http/http1/max_forwards_response.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

bool is_secret(std::string_view name) {
  if (ascii::starts_with(name, "proxy-")) return true;
  for (const std::string_view known : {"authorization", "cookie", "cookie2", "x-api-key", "x-goog-api-key",
                                       "x-amz-security-token", "x-auth-token"}) {
    if (ascii::same(name, known)) return true;
  }
  return false;
}

std::string echo(const RequestHead& head) {
  std::string text;
  ascii::append(text, head.method, " ", head.target,
                head.minor_version == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  for (const FieldLine& field : head.fields) {
    if (!is_secret(field.name)) text += field.line;
  }
  return text += "\r\n";
}

}  // namespace

void write_max_forwards_response(const RequestHead& head, std::string_view date,
                                 std::string_view connection_field, std::string& out) {
  const std::string body = head.method == "TRACE" ? echo(head) : std::string();
  ascii::append(out, "HTTP/1.1 200 OK\r\nDate: ", date, "\r\n");
  if (!body.empty()) out += "Content-Type: message/http\r\nX-Content-Type-Options: nosniff\r\n";
  ascii::append(out, "Content-Length: ", std::to_string(body.size()), "\r\n", connection_field, "\r\n", body);
}

}  // namespace reprise::http
