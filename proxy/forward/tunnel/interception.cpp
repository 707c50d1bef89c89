#include "proxy/forward/tunnel/interception.hpp"

#include <algorithm>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::forward {

using telemetry::Interception;

bool lists_host(const std::vector<policy::HostPattern>& listed, std::string_view host) {
  return std::any_of(listed.begin(), listed.end(),
                     [host](const policy::HostPattern& pattern) { return pattern.matches(host); });
}

Interception judge_interception(std::string_view authority, const ClientHello& hello,
                                const std::vector<policy::HostPattern>& listed, bool reads_http2) {
  const std::string_view wanted = authority.empty() ? std::string_view(hello.server_name) : authority;
  if (hello.server_name.empty())
    return authority.empty() || !lists_host(listed, wanted) ? Interception::unlisted
                                                            : Interception::no_server_name;
  if (!lists_host(listed, wanted)) return Interception::unlisted;
  if (!policy::is_same_host(wanted, hello.server_name)) return Interception::other_server_name;
  const bool offers_one_that_is_read = hello.offers_http_1_1 || (reads_http2 && hello.offers_http2);
  if (hello.offers_protocols && !offers_one_that_is_read) return Interception::no_http_1_1;
  return Interception::intercepted;
}

}  // namespace reprise::forward
