#include "proxy/http/message/origin.hpp"

#include "proxy/policy/match/ascii.hpp"

namespace reprise::http {
std::string authority_text(std::string_view host, std::uint16_t port) {
  return policy::host_text(host).append(":").append(std::to_string(port));
}

std::string authority_text(std::string_view host, std::uint16_t port, std::uint16_t standard) {
  return port == standard ? policy::host_text(host) : authority_text(host, port);
}

}  // namespace reprise::http
