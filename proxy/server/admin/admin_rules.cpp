#include "proxy/server/admin/admin_rules.hpp"

#include <boost/asio/ip/address.hpp>
#include <string>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::server {
namespace {

std::string_view value_of(const AdminQuery& query, boost::beast::http::field field) {
  const auto value = query[field];
  return {value.data(), value.size()};
}

std::string_view value_of(const AdminQuery& query, std::string_view field) {
  const auto value = query[field];
  return {value.data(), value.size()};
}

// Returns the host of the Host field without its port. Empty if there is none.
std::string host_of(const AdminQuery& query) {
  std::string_view host = value_of(query, boost::beast::http::field::host);
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return policy::lower(host);
}

bool is_an_address(const std::string& host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

std::string_view path_of(const AdminQuery& query) {
  const std::string_view target(query.target().data(), query.target().size());
  return target.substr(0, target.find('?'));
}

bool has_address_as_host(const AdminQuery& query) { return is_an_address(host_of(query)); }

bool is_rebound(const AdminQuery& query) {
  const std::string host = host_of(query);
  return !host.empty() && !is_an_address(host);
}

bool is_cross_origin(const AdminQuery& query) {
  // `same-site` includes other ports of this machine; `none` means that a person entered the address.
  const std::string_view site = value_of(query, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view origin = value_of(query, boost::beast::http::field::origin);
  if (origin.empty()) return false;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return true;
  origin.remove_prefix(scheme + 3);
  return policy::lower(origin) != policy::lower(value_of(query, boost::beast::http::field::host));
}

bool is_followed_link(const AdminQuery& query) {
  return value_of(query, "Sec-Fetch-Mode") == "navigate" && value_of(query, "Sec-Fetch-Dest") == "document";
}

AdminWork work_of(const AdminQuery& query) {
  const std::string_view path = path_of(query);
  return path == "/livez" || path == "/readyz" ? AdminWork::probe : AdminWork::page;
}

}  // namespace reprise::server
