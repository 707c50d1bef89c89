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
  std::string_view alias{};  ///< name of another environment variable with the same meaning
};

inline constexpr std::string_view variable_prefix = "REPRISE_";

inline constexpr auto shortcut_table = std::to_array<Shortcut>({
    {"max-attempts", "defaults.retry.max_attempts", "N",
     "maximum number of attempts, including the first; or unlimited"},
    {"deadline", "defaults.retry.deadline", "TIME",
     "maximum time from the request head to the start of a retry, such as 30s; or unlimited",
     "REPRISE_RETRY_DEADLINE"},
    {"attempt-timeout", "defaults.retry.attempt_timeout", "TIME",
     "maximum time to a response in an attempt that may be repeated, such as 5s; or none"},
    {"retry-on", "defaults.retry.on", "LIST",
     "statuses and failures to retry, such as 5xx,429,connect,reset"},
    {"idempotency-header", "defaults.idempotent", "NAME",
     "header that makes a request of any method safe to send again; separate several with commas"},
    {"parent", "parent", "URL", "another proxy through which all upstreams are reached; or none"},
    {"admin", "admin.bind", "ADDRESS",
     "PORT on 127.0.0.1, or ADDRESS:PORT, for metrics, health and status; or off"},
    {"control", "admin.control", "PATH", "path of a unix socket for reload, drain, status and quit; or none"},
    {"log-format", "log.format", "WORD", "format of the log lines"},
    {"log-level", "log.level", "WORD", "least severe level that is logged"},
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
