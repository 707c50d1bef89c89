#include "proxy/http/http1/parent.hpp"

#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/origin.hpp"

namespace reprise::http {
namespace {

void append_authorization(std::string_view authorization, std::string& out) {
  if (!authorization.empty()) ascii::append(out, "Proxy-Authorization: ", authorization, "\r\n");
}

}  // namespace

void make_absolute(std::string_view host, std::uint16_t port, std::string_view authorization,
                   std::string& head) {
  const std::size_t target = head.find(' ') + 1;
  if (head[target] == '*') head.erase(target, 1);
  head.insert(target, "http://" + authority_text(host, port, http_port));
  append_authorization(authorization, head);
}

void write_connect(const RequestHead& head, std::string_view host, std::uint16_t port,
                   std::string_view authorization, std::string_view via_pseudonym, std::string& out) {
  const std::string authority = authority_text(host, port);
  ascii::append(out, "CONNECT ", authority, " HTTP/1.1\r\nHost: ", authority, "\r\n");
  for (const FieldLine& field : head.fields) {
    if (field.id == FieldId::via) ascii::append(out, "Via: ", field.value, "\r\n");
  }
  append_via(version_of(head), via_pseudonym, out);
  append_authorization(authorization, out);
  out += "\r\n";
}

}  // namespace reprise::http
