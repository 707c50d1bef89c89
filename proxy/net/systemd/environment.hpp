// The variables by which a service manager speaks to a process that it has started.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::net {

/// A variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// A variable that is a decimal number and nothing else; nothing where it is not.
std::optional<std::uint64_t> number_in(const Environment&, std::string_view name);

}  // namespace reprise::net
