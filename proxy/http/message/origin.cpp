#include "proxy/http/message/origin.hpp"

namespace reprise::http {
namespace {

std::string host_text(std::string_view host) {
  const bool literal_v6 = host.find(':') != std::string_view::npos;
  return literal_v6 ? std::string("[").append(host).append("]") : std::string(host);
}

}  // namespace

std::string authority_text(std::string_view host, std::uint16_t port) {
  return host_text(host).append(":").append(std::to_string(port));
}

std::string authority_text(std::string_view host, std::uint16_t port, std::uint16_t standard) {
  return port == standard ? host_text(host) : authority_text(host, port);
}

}  // namespace reprise::http
