#include "tests/simulation/request_head.hpp"

#include <algorithm>
#include <array>

#include "tests/support/http_reader.hpp"

namespace reprise::simulation {

using play::field;
using play::number;

std::optional<std::uint64_t> story_number(std::string_view head) {
  constexpr std::array<std::string_view, 5> methods{"GET ", "HEAD ", "POST ", "PUT ", "DELETE "};
  constexpr std::string_view scheme = "http://";
  const auto* const found = std::find_if(methods.begin(), methods.end(),
                                         [&](std::string_view method) { return head.starts_with(method); });
  if (found == methods.end()) return std::nullopt;
  std::string_view target = head.substr(found->size(), head.find(' ', found->size()) - found->size());
  if (target.starts_with(scheme))
    target.remove_prefix(std::min(target.find('/', scheme.size()), target.size()));
  if (!target.starts_with("/s/")) return std::nullopt;
  return number(target.substr(3, target.find('?') - 3));
}

std::optional<Duration> draw_idle_limit(Seed seed) {
  Chance chance(seed, Purpose::responses, 9'000'000);
  const Duration limit =
      chance.pick({Duration(std::chrono::milliseconds(1)), Duration(std::chrono::milliseconds(7)),
                   Duration(std::chrono::milliseconds(50)), Duration(std::chrono::milliseconds(800))});
  return chance.one_in(3) ? std::optional(limit) : std::nullopt;
}

std::string without(std::string head, std::string_view name) {
  const std::size_t start = head.find("\r\n" + std::string(name) + ": ");
  if (start != std::string::npos) head.erase(start, head.find("\r\n", start + 2) - start);
  return head;
}

std::optional<RangeRequest> range_of(std::string_view head) {
  const auto range = field(head, "Range");
  if (!range || !range->starts_with("bytes=")) return std::nullopt;
  RangeRequest asked;
  asked.first = number(range->substr(6, range->find('-') - 6)).value_or(0);
  const auto condition = field(head, "If-Range");
  asked.conditional = condition.has_value();
  if (condition && condition->starts_with("\"v"))
    asked.version = static_cast<unsigned>(number(condition->substr(2, condition->size() - 3)).value_or(0));
  return asked;
}

unsigned version_given_last(const Account& account) {
  unsigned version = 0;
  for (const Served& one : account.served) {
    if (one.status == 200 || one.status == 206) version = one.version;
  }
  return version;
}

}  // namespace reprise::simulation
