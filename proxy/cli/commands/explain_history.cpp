#include "proxy/cli/commands/explain_history.hpp"

#include <cstdio>

#include "proxy/cli/commands/admin_address.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::cli {
namespace {

constexpr Duration history_timeout = std::chrono::seconds(10);

// Returns the text as one percent-encoded path segment (RFC 3986 2.1 and 2.3).
std::string segment(const std::string& text) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.' ||
                       byte == '~';
    if (plain) {
      out += character;
    } else {
      out += {'%', digits[byte / 16], digits[byte % 16]};
    }
  }
  return out;
}

}  // namespace

int explain_history(const std::string& id, const std::string& admin, const std::string& file,
                    const std::string& format) {
  int code = exit_ok;
  const auto at = admin_address(admin, file, code);
  if (!at) return code;
  const std::string query = format == "text" ? "?format=text" : "";
  const server::AdminResponse response =
      server::ask_admin(*at, "/stories/" + segment(id) + query, history_timeout);
  if (response.status == 200) {
    std::fputs(telemetry::for_terminal(response.body).c_str(), stdout);
    return exit_ok;
  }
  std::fprintf(stderr, "reprise explain: %s%s", telemetry::for_terminal(response.body).c_str(),
               response.body.ends_with('\n') ? "" : "\n");
  return exit_runtime;
}

}  // namespace reprise::cli
