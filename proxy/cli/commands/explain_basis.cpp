#include "proxy/cli/commands/explain_basis.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "proxy/cli/commands/admin_address.hpp"
#include "proxy/cli/line/exit_codes.hpp"
#include "proxy/cli/startup/running.hpp"
#include "proxy/server/admin/ask_admin.hpp"
#include "proxy/server/admin/ask_control.hpp"
#include "proxy/server/admin/control_path.hpp"

namespace reprise::cli {
namespace {

Basis basis_of(RunningConfiguration running) {
  return {std::move(running.loaded), std::move(running.file), std::move(running.words), true};
}

/// Returns the configuration of the running proxy at the default admin addresses, or at the addresses that
/// environment variables name. If no proxy responds there, returns the built-in defaults.
Basis default_basis(const BasisArguments& given) {
  Basis built_in{read_configuration({}, *given.flags), {}, "built-in defaults"};
  if (!built_in.loaded.settings) return built_in;
  const config::Admin& admin = built_in.loaded.settings->admin;
  const std::vector<config::GivenValue>& named = built_in.loaded.given;
  const bool is_without = std::any_of(named.begin(), named.end(), [](const config::GivenValue& value) {
    return value.path == "admin.control" && value.text == "none";
  });
  const std::string control = admin.control.value_or(server::usual_control_path);
  if (!is_without && server::try_control(control) == 0) {
    if (auto running = ask_running(control, *given.flags); running.fault.empty())
      return basis_of(std::move(running));
  }
  if (admin.bind.is_off()) return built_in;
  const server::AdminAddress at{admin.bind.address, std::to_string(admin.bind.port)};
  auto running = ask_running(at, *given.flags);
  if (running.fault.empty()) return basis_of(std::move(running));
  built_in.words += " (no reprise responds at " + server::authority_of(at) + ")";
  return built_in;
}

}  // namespace

std::optional<Basis> find_basis(const BasisArguments& given, int& code) {
  if (!given.file.empty()) return Basis{read_configuration(given.file, *given.flags), given.file, {}};
  if (given.admin.empty() && given.control.empty()) return default_basis(given);
  const auto at = given.control.empty() ? admin_address(given.admin, {}, code) : std::nullopt;
  if (given.control.empty() && !at) return std::nullopt;
  auto running = at ? ask_running(*at, *given.flags) : ask_running(given.control, *given.flags);
  if (running.fault.empty()) return basis_of(std::move(running));
  std::fprintf(stderr, "reprise explain: %s\n", running.fault.c_str());
  code = exit_runtime;
  return std::nullopt;
}

}  // namespace reprise::cli
