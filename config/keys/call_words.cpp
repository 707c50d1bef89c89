#include "config/keys/call_words.hpp"

#include <algorithm>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {

using policy::call_word_prefix;
using policy::GrpcStatus;

std::string call_word(GrpcStatus status) {
  return std::string(call_word_prefix).append(policy::word(status));
}

std::optional<GrpcStatus> call_status(std::string_view word) {
  if (!word.starts_with(call_word_prefix)) return std::nullopt;
  return policy::grpc_status_of(word.substr(call_word_prefix.size()));
}

std::string meant_call_word(std::string_view text) {
  std::string name = policy::lower(text);
  std::replace(name.begin(), name.end(), '-', '_');
  constexpr std::string_view prefix = "grpc_";
  const bool has_prefix = name.starts_with(prefix);
  if (has_prefix) name.erase(0, prefix.size());
  auto status = policy::grpc_status_of(name);
  // A number alone is not a suggestion, because it may be a status of HTTP with a missing digit.
  if (const auto number = parse_whole(name);
      has_prefix && number && *number.value < policy::grpc_status_count)
    status = static_cast<GrpcStatus>(*number.value);
  return status && *status != GrpcStatus::ok ? call_word(*status) : std::string();
}

}  // namespace reprise::config
