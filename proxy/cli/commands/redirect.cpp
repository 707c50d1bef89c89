#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/tools/redirect/redirect_rules.hpp"

namespace reprise::cli {
namespace {

struct RedirectArguments {
  std::string file;
  std::string print;
  std::string user = "reprise";
  std::vector<std::string> only_users;
  std::string ports;
  bool apply = false;
  bool remove = false;
};

// Runs the program with `text` as its input. The program prints its own errors.
int run_with_input(const char* program, const std::string& text) {
  std::FILE* const pipe = ::popen(program, "w");
  if (pipe == nullptr) {
    print_on_stderr(config::LogLevel::error, std::string("reprise redirect: ") + program + " cannot be run");
    return exit_runtime;
  }
  std::fputs(text.c_str(), pipe);
  if (::pclose(pipe) == 0) return exit_ok;
  print_on_stderr(config::LogLevel::error, std::string("reprise redirect: ") + program +
                                               " did not apply the rules: check that nft or iptables is "
                                               "installed, and run reprise redirect as root");
  return exit_runtime;
}

int remove(const RedirectArguments& given) {
  if (given.print.empty()) {
    // The removal commands ignore all errors, so that a missing rule is not reported. Missing rights would
    // not be reported either, so this function first checks that it runs as root.
    if (::geteuid() == 0) return run_with_input("/bin/sh -e", tools::removal_of_both());
    print_on_stderr(config::LogLevel::error, "reprise redirect: only root can remove rules");
    return exit_runtime;
  }
  if (given.print == "nft") return run_with_input("nft -f -", tools::nft_removal());
  return run_with_input("/bin/sh -e", tools::iptables_removal());
}

bool is_number(const std::string& user) { return user.find_first_not_of("0123456789") == std::string::npos; }

// Returns an error message about the users on the command line, or an empty text if they are usable. With
// --apply, also checks that the users exist. Without --apply, the printed rules may be for another host.
std::string problem_with_users(const RedirectArguments& given) {
  for (const std::string& user : given.only_users) {
    if (user == given.user)
      return "--only-user " + user + ": connections of the user that reprise runs as are never redirected";
    if (given.apply && !is_number(user) && ::getpwnam(user.c_str()) == nullptr)
      return "--only-user " + user + ": this host has no such user";
  }
  if (given.apply && !is_number(given.user) && ::getpwnam(given.user.c_str()) == nullptr)
    return "--user " + given.user + ": this host has no such user: name the user that reprise runs as";
  return {};
}

// Returns true if a process listens on `port` at any address. Looks only in the network namespace of this
// process.
bool is_port_bound(std::uint16_t port) {
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", static_cast<unsigned>(port));
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    std::string number, local, remote, state;
    for (std::string line; lines >> number >> local >> remote >> state && std::getline(lines, line);)
      if (state == "0A" && local.ends_with(wanted)) return true;
  }
  return false;
}

void warn(const RedirectArguments& given, const tools::Redirection& rules) {
  if (rules.is_of_whole_host())
    print_on_stderr(
        config::LogLevel::warn,
        "warning: this redirects the TCP connections of every user of this host: name the application's user "
        "with --only-user NAME, or the ports of its upstreams with --ports 80,443");
  for (const auto& listener : {rules.ipv4, rules.ipv6}) {
    if (given.apply && listener && !is_port_bound(listener->port))
      print_on_stderr(config::LogLevel::warn, "warning: no process listens on port " +
                                                  std::to_string(listener->port) +
                                                  " yet: redirected connections fail until reprise runs");
  }
}

int redirect(const RedirectArguments& given) {
  if (given.remove) return remove(given);
  if (given.print.empty() || given.file.empty()) {
    print_on_stderr(config::LogLevel::error,
                    given.print.empty()
                        ? "reprise redirect: --print is required: nft or iptables"
                        : "reprise redirect: -c is required: the file with the transparent listener");
    return exit_usage;
  }
  if (const std::string trouble = problem_with_users(given); !trouble.empty()) {
    print_on_stderr(config::LogLevel::error, "reprise redirect: " + trouble);
    return exit_usage;
  }
  const bool nft = given.print == "nft";
  const config::Loaded loaded = load_configuration(given.file);
  if (!loaded.settings) return exit_bad_configuration;
  tools::Redirection rules = tools::redirection_of(*loaded.settings, given.user);
  rules.only_users = given.only_users;
  if (!given.ports.empty()) rules.ports = tools::parse_ports(given.ports).value();
  if (!rules.ipv4 && !rules.ipv6) {
    print_on_stderr(config::LogLevel::error, given.file +
                                                 ": error: listeners: no listener is transparent: write "
                                                 "{mode: transparent, bind: 127.0.0.1:3190}");
    return exit_bad_configuration;
  }
  for (const auto& listener : {rules.ipv4, rules.ipv6}) {
    if (!listener || listener->port != 0) continue;
    print_on_stderr(
        config::LogLevel::error,
        "reprise redirect: the transparent listener uses any free port (port 0): configure a fixed port");
    return exit_usage;
  }
  const std::string text = nft ? tools::nft_rules(rules) : tools::iptables_rules(rules);
  warn(given, rules);
  if (given.apply) return run_with_input(nft ? "nft -f -" : "/bin/sh -e", text);
  std::fputs(text.c_str(), stdout);
  return exit_ok;
}

std::string is_user(const std::string& name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  const bool plain =
      !name.empty() && name.front() != '-' && name.find_first_not_of(letters) == std::string::npos;
  return plain ? std::string() : "not a user name: " + name;
}

}  // namespace

void add_redirect(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "redirect",
      "print or apply firewall rules that redirect this host's connections to transparent listeners");
  const auto given = std::make_shared<RedirectArguments>();
  command->add_option("-c,--config,config", given->file,
                      "configuration file; required unless --remove is given");
  command
      ->add_option("--print", given->print,
                   "format of the rules: nft (input for nft -f -) or iptables (shell commands); required "
                   "unless --remove is given")
      ->check(CLI::IsMember({"nft", "iptables"}));
  command
      ->add_option("--user", given->user,
                   "user that reprise runs as, by name or number; its connections are not redirected")
      ->check(is_user);
  command
      ->add_option("--only-user", given->only_users,
                   "redirect only connections of this user, by name or number; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(is_user);
  command
      ->add_option("--ports", given->ports,
                   "redirect only connections to these ports, such as 80,443,8000-8099")
      ->type_name("LIST")
      ->check([](const std::string& list) {
        return tools::parse_ports(list) ? std::string()
                                        : "not a list of ports such as 80,443,8000-8099: " + list;
      });
  CLI::Option* apply = command->add_flag("--apply", given->apply, "apply the rules (idempotent)");
  command
      ->add_flag("--remove", given->remove,
                 "remove the rules of nft and of iptables, or only those of the tool that --print names; "
                 "missing rules are not an error")
      ->excludes(apply);
  command->footer("sudo reprise redirect --print nft --only-user app --apply -c reprise.yaml");
  command->callback([given, &code] { code = redirect(*given); });
}

}  // namespace reprise::cli
