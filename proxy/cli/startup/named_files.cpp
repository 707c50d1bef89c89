#include "proxy/cli/startup/named_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "proxy/cli/startup/configuration.hpp"
#include "proxy/forward/replay/temporary_file.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/tls/tls_files.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/intercept/key_owner.hpp"
#include "proxy/server/intercept/secret_memory.hpp"

namespace reprise::cli {
namespace {

using Severity = config::Problem::Severity;

/// Collects problems without duplicates. Each problem has the position of its configuration key.
class Found {
 public:
  explicit Found(const config::Loaded& loaded) : loaded_(loaded) {}

  /// Adds the problem once for every key whose path ends with `key` and whose value is `file`. If the
  /// configuration has no such key, adds the problem without a position.
  void add(std::string_view key, const std::string& file, const std::string& message,
           Severity severity = Severity::error) {
    bool placed = false;
    for (const config::NamedFile& named : loaded_.named) {
      if (!ends_with_key(named.path, key) || named.file != file) continue;
      placed = true;
      put({severity, named.place.line, named.place.column, named.path, message});
    }
    if (!placed) put({severity, 0, 0, std::string(key), message});
  }

  std::vector<config::Problem> in_order() && {
    std::stable_sort(problems_.begin(), problems_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return std::move(problems_);
  }

 private:
  static bool ends_with_key(std::string_view path, std::string_view key) {
    return path == key || (path.ends_with(key) && path[path.size() - key.size() - 1] == '.');
  }
  void put(config::Problem problem) {
    if (seen_.insert({problem.path, problem.message}).second) problems_.push_back(std::move(problem));
  }

  const config::Loaded& loaded_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<config::Problem> problems_;
};

void check_replay_folder(const config::Limits& limits, Found& found) {
  if (limits.replay_disk_bytes == 0) return;
  const int descriptor = forward::system_file_calls().open(limits.replay_folder);
  if (descriptor >= 0) {
    ::close(descriptor);
    return;
  }
  found.add("limits.replay_folder", limits.replay_folder,
            limits.replay_folder + " cannot be used: " + std::generic_category().message(errno) +
                "; name a folder that reprise may write to");
}

// Checks the private key separately, because the TLS library does not read the key after an error in the
// certificate.
void check_key(const std::string& file, std::string_view section, Found& found) {
  std::string trouble = net::trouble_with_kind(file);
  if (trouble.empty() && ::access(file.c_str(), R_OK) != 0) trouble = std::generic_category().message(errno);
  if (!trouble.empty()) found.add(std::string(section) + ".key", file, file + " cannot be used: " + trouble);
}

// Tries to load the TLS files of the policy. If loading fails, adds the problem to `found`. The loader's
// error text is `tls.KEY FILE cannot be used: ..`.
void check_tls(const policy::TlsPolicy& policy, std::string_view section, Found& found) {
  try {
    static_cast<void>(net::TlsClient(policy, 0));
  } catch (const std::runtime_error& error) {
    std::string text = error.what();
    const std::size_t blank = text.find(' ');
    const bool names_key = text.starts_with("tls.") && blank != std::string::npos;
    const std::string key = names_key ? text.substr(4, blank - 4) : std::string("ca_file");
    if (names_key) text.erase(0, blank + 1);
    const auto& file = key == "ca_file" ? policy.ca_file : (key == "key" ? policy.key : policy.certificate);
    found.add(std::string(section) + "." + key, file.value_or(""), text);
    if (key == "certificate" && policy.key) check_key(*policy.key, section, found);
  }
}

// Checks the trusted certificates and the client certificate separately, so that an error in one file does
// not hide an error in the other.
void check_tls_separately(const policy::TlsPolicy& policy, std::string_view section, Found& found) {
  policy::TlsPolicy trusted = policy;
  trusted.certificate.reset();
  trusted.key.reset();
  check_tls(trusted, section, found);
  policy::TlsPolicy ours = policy;
  ours.ca_file.reset();
  if (policy.certificate) check_tls(ours, section, found);
}

// Adds a problem that occurred while the certificate authority was loaded. `text` is the error message, such
// as `intercept.KEY: FILE ..`. A message about a host does not name a file.
void add_authority(const config::Intercept& settings, const std::string& text, Found& found) {
  const std::size_t colon = text.find(": ");
  const std::string key = text.substr(0, colon);
  const bool of_key = key == "intercept.ca.key";
  const std::string& file = of_key ? settings.key : settings.certificate;
  found.add(key, key == "intercept.hosts" ? std::string() : file, text.substr(colon + 2));
}

void check_intercept(const config::Intercept& settings, const std::string& at, Found& found) {
  server::reserve_secret_memory();
  try {
    server::load_authority(settings, at, wall_seconds());
    return;
  } catch (const server::InterceptError& error) {
    add_authority(settings, error.what(), found);
  }
  try {
    static_cast<void>(server::read_key(settings, at));
  } catch (const server::InterceptError& error) {
    add_authority(settings, error.what(), found);
  }
}

}  // namespace

std::vector<config::Problem> problems_of_files(const config::Loaded& loaded, const std::string& file) {
  const config::Settings& settings = *loaded.settings;
  Found found(loaded);
  check_replay_folder(settings.limits, found);
  std::vector<const policy::TlsPolicy*> seen;
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    const policy::TlsPolicy& policy = (*settings.routes)[i].policy.tls;
    const auto is_it = [&](const policy::TlsPolicy* other) { return net::same_files(*other, policy); };
    if (std::any_of(seen.begin(), seen.end(), is_it)) continue;
    seen.push_back(&policy);
    check_tls_separately(policy, "tls", found);
  }
  if (settings.parent && settings.parent->tls) check_tls_separately(*settings.parent->tls, "parent", found);
  if (settings.intercept) check_intercept(*settings.intercept, file, found);
  return std::move(found).in_order();
}

std::vector<config::Problem> warnings_of_files(const config::Loaded& loaded) {
  Found found(loaded);
  const auto& intercept = loaded.settings->intercept;
  const auto command = intercept ? server::command_for_owner(intercept->key) : std::nullopt;
  if (command)
    found.add("intercept.ca.key", intercept->key,
              intercept->key +
                  " belongs to root, so a service that runs as another user cannot read it: run " + *command,
              Severity::warning);
  return std::move(found).in_order();
}

std::string line_of_file(const config::Loaded& loaded, const std::string& file, const std::string& text) {
  config::Problem problem{Severity::error, 0, 0, {}, text};
  for (const config::NamedFile& named : loaded.named) {
    if (!text.starts_with(named.path + ": ")) continue;
    problem.line = named.place.line;
    problem.column = named.place.column;
  }
  return config::to_line(problem, file.empty() ? "reprise" : file);
}

std::vector<std::string> lines_of_files(const config::Loaded& loaded, const std::string& file,
                                        const std::string& otherwise) {
  std::vector<std::string> lines;
  for (const config::Problem& problem : problems_of_files(loaded, file))
    lines.push_back(config::to_line(problem, file.empty() ? "reprise" : file));
  if (lines.empty()) lines.push_back(line_of_file(loaded, file, otherwise));
  return lines;
}

}  // namespace reprise::cli
