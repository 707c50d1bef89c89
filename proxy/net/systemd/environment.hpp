// The environment variables that a service manager sets for a process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::net {

/// Returns the value of a variable; no value if the variable is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// Returns the value of a variable as a number; no value if the variable is not a plain decimal number.
std::optional<std::uint64_t> number_in(const Environment&, std::string_view name);

}  // namespace reprise::net
