#include "proxy/stories/story.hpp"

#include <arpa/inet.h>

#include <array>
#include <cmath>

namespace reprise::observe {

bool is_worth_telling(const ExchangeRecord& record) {
  const policy::Ledger& ledger = *record.ledger;
  return ledger.size() > 1 || ledger.reason != policy::Reason::success || record.ending != Ending::answered ||
         record.status >= 500 || ledger.ambiguous;
}

std::string text_of(const policy::UpstreamAddress& address) {
  if (!address.known()) return {};
  const bool v4 = address.family == policy::UpstreamAddress::Family::v4;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size()) == nullptr)
    return {};
  const std::string host = v4 ? text.data() : "[" + std::string(text.data()) + "]";
  return host + ":" + std::to_string(address.port);
}

}  // namespace reprise::observe
