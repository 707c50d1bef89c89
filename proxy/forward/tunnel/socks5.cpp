#include "proxy/forward/tunnel/socks5.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace reprise::forward {
namespace {

constexpr char version = 5;
constexpr char no_authentication = 0;
constexpr char no_acceptable_method = '\xff';
constexpr char connect_command = 1;
constexpr std::size_t fixed = 4;  // bytes of version, command, reserved and address type
constexpr std::size_t port_bytes = 2;

enum class AddressType : std::uint8_t { ipv4 = 1, name = 3, ipv6 = 4 };

// The values of the field REP.
enum class SocksReply : char {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  network_unreachable = 3,
  host_unreachable = 4,
  refused = 5,
  command_not_supported = 7,
  address_type_not_supported = 8,
};

// Formats a reply. Never reveals the bound address: the reply contains 0.0.0.0:0.
std::string reply(SocksReply code) {
  std::string bytes(10, '\0');
  bytes[0] = version;
  bytes[1] = static_cast<char>(code);
  bytes[3] = static_cast<char>(AddressType::ipv4);
  return bytes;
}

std::string address_text(int family, std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* const written = ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return written == nullptr ? std::string() : std::string(written);
}

// Returns true if the text has no blanks, control characters or delimiters. Such characters would be unsafe
// in the resolver, in logs and in a CONNECT to a parent proxy.
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f &&
           std::string_view("/\\?#@[]<>\"%").find(c) == std::string_view::npos;
  });
}

}  // namespace

std::variant<SocksPartial, http::Rejection, SocksGreeting> read_socks_greeting(std::string_view bytes) {
  if (bytes.empty()) return SocksPartial{};
  if (bytes[0] != version) return http::Rejection::socks_version;
  if (bytes.size() < 2) return SocksPartial{};
  const std::size_t methods = static_cast<unsigned char>(bytes[1]);
  if (methods == 0) return http::Rejection::socks_malformed;
  if (bytes.size() < 2 + methods) return SocksPartial{};
  const std::string_view offered = bytes.substr(2, methods);
  if (offered.find(no_authentication) == std::string_view::npos) return http::Rejection::socks_method;
  return SocksGreeting{2 + methods};
}

std::variant<SocksPartial, http::Rejection, SocksRequest> read_socks_request(std::string_view bytes) {
  if (!bytes.empty() && bytes[0] != version) return http::Rejection::socks_malformed;
  if (bytes.size() > 1 && bytes[1] != connect_command) return http::Rejection::socks_command;
  if (bytes.size() > 2 && bytes[2] != 0) return http::Rejection::socks_malformed;
  if (bytes.size() < fixed) return SocksPartial{};
  const auto type = static_cast<AddressType>(bytes[3]);
  std::size_t begin = fixed;
  std::size_t length = 0;
  switch (type) {
    case AddressType::ipv4: length = 4; break;
    case AddressType::ipv6: length = 16; break;
    case AddressType::name:
      if (bytes.size() <= fixed) return SocksPartial{};
      begin = fixed + 1;
      length = static_cast<unsigned char>(bytes[fixed]);
      break;
    default: return http::Rejection::socks_address;
  }
  if (length == 0) return http::Rejection::socks_malformed;
  if (bytes.size() < begin + length + port_bytes) return SocksPartial{};
  const std::string_view address = bytes.substr(begin, length);
  const std::string_view port = bytes.substr(begin + length, port_bytes);
  SocksRequest request;
  request.bytes = begin + length + port_bytes;
  request.port = static_cast<std::uint16_t>(static_cast<unsigned char>(port[0]) << 8U |
                                            static_cast<unsigned char>(port[1]));
  if (type == AddressType::name) {
    if (!is_name(address)) return http::Rejection::socks_malformed;
    request.host = address;
  } else {
    request.host = address_text(type == AddressType::ipv4 ? AF_INET : AF_INET6, address);
  }
  if (request.port == 0) return http::Rejection::socks_malformed;
  return request;
}

std::string socks_method_reply(bool accepted) {
  return {version, accepted ? no_authentication : no_acceptable_method};
}

std::string socks_success() { return reply(SocksReply::succeeded); }

std::string socks_failure(http::Rejection cause) {
  if (cause == http::Rejection::socks_command) return reply(SocksReply::command_not_supported);
  if (cause == http::Rejection::socks_address) return reply(SocksReply::address_type_not_supported);
  if (cause == http::Rejection::connect_port_denied) return reply(SocksReply::not_allowed);
  return reply(SocksReply::general_failure);
}

std::string socks_failure(policy::Cause cause) {
  using policy::Cause;
  switch (cause) {
    case Cause::dns_error:
    case Cause::dns_timeout:
    case Cause::connect_timeout:
    case Cause::parent_timeout: return reply(SocksReply::host_unreachable);
    case Cause::unreachable:
    case Cause::parent_unreachable: return reply(SocksReply::network_unreachable);
    case Cause::refused: return reply(SocksReply::refused);
    case Cause::address_denied:
    case Cause::address_is_self: return reply(SocksReply::not_allowed);
    case Cause::no_local_port:
    case Cause::no_descriptor:
    case Cause::parent_refused:
    // All remaining causes occur only after a connection is established.
    case Cause::tls_protocol_error:
    case Cause::tls_certificate_error:
    case Cause::tls_alert_received:
    case Cause::closed:
    case Cause::reset:
    case Cause::keepalive_lost:
    case Cause::unacknowledged:
    case Cause::not_http2:
    case Cause::stream_refused:
    case Cause::stream_reset:
    case Cause::goaway:
    case Cause::http_1_1_required:
    case Cause::attempt_timeout:
    case Cause::response_timeout:
    case Cause::malformed_response:
    case Cause::header_too_large:
    case Cause::truncated:
    case Cause::cancelled:
    case Cause::replay_lost: break;
  }
  return reply(SocksReply::general_failure);
}

}  // namespace reprise::forward
