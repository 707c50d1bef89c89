#include "proxy/http/origin.hpp"

#include "proxy/http/ascii.hpp"

namespace reprise::http {
namespace {

void append_host(std::string_view host, std::string& text) {
  const bool literal_v6 = host.find(':') != std::string_view::npos;
  ascii::append(text, literal_v6 ? "[" : "", host, literal_v6 ? "]" : "");
}

}  // namespace

std::string authority_text(std::string_view host, std::uint16_t port) {
  std::string text;
  append_host(host, text);
  ascii::append(text, ":", std::to_string(port));
  return text;
}

std::string authority_text(std::string_view host, std::uint16_t port, std::uint16_t standard) {
  if (port != standard) return authority_text(host, port);
  std::string text;
  append_host(host, text);
  return text;
}

}  // namespace reprise::http
