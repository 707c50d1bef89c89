// The settings that a flag of `run` and `exec`, or an environment variable, can set.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace reprise::config {

struct Shortcut {
  std::string_view flag;   ///< name of the flag without its dashes
  std::string_view path;   ///< path of the key that the flag sets
  std::string_view value;  ///< name of the value in help texts
  std::string_view sentence;
  std::string_view alias{};  ///< name of another variable with the same meaning
};

inline constexpr std::string_view variable_prefix = "REPRISE_";

inline constexpr auto shortcut_table = std::to_array<Shortcut>({
    {"max-attempts", "defaults.retry.max_attempts", "N", "attempts in all, the first included; or unlimited"},
    {"deadline", "defaults.retry.deadline", "TIME",
     "no retry begins later than this after the request, such as 30s; or unlimited",
     "REPRISE_RETRY_DEADLINE"},
    {"attempt-timeout", "defaults.retry.attempt_timeout", "TIME",
     "ends an attempt that may be repeated and has no response by then, such as 5s; or none"},
    {"retry-on", "defaults.retry.on", "LIST",
     "statuses and failures that are retried, such as 5xx,429,connect,reset"},
    {"idempotency-header", "defaults.idempotent", "NAME",
     "a request with this header is safe to send again, too, whatever its method; several with commas"},
    {"parent", "parent", "URL", "another proxy that everything goes through; or none"},
    {"admin", "admin.bind", "ADDRESS",
     "PORT on 127.0.0.1, or ADDRESS:PORT, of metrics, health and status; or off"},
    {"control", "admin.control", "PATH", "unix socket for reload, drain, status, quit; or none"},
    {"log-format", "log.format", "WORD", "how log lines are written"},
    {"log-level", "log.level", "WORD", "the least severe lines that are logged"},
});

/// Returns the name of the environment variable, such as `REPRISE_MAX_ATTEMPTS`.
inline std::string variable_of(const Shortcut& shortcut) {
  std::string name(variable_prefix);
  for (const char c : shortcut.flag)
    name.push_back(c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
  return name;
}

/// Returns the row of that flag. Null if the table has no such flag.
inline const Shortcut* find_shortcut(std::string_view flag) {
  const auto* const found = std::find_if(shortcut_table.begin(), shortcut_table.end(),
                                         [&](const Shortcut& each) { return each.flag == flag; });
  return found == shortcut_table.end() ? nullptr : found;
}

}  // namespace reprise::config
