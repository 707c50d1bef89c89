#include <cstdio>
#include <memory>
#include <string>

#include "proxy/cli/commands.hpp"
#include "proxy/redirect/redirect_rules.hpp"
#include "proxy/startup/configuration.hpp"

namespace reprise::cli {
namespace {

struct RedirectArguments {
  std::string file;
  std::string print;
  std::string user = "reprise";
  bool apply = false;
  bool remove = false;
};

// Its own words say what it did not like.
int feed(const char* program, const std::string& text) {
  std::FILE* const pipe = ::popen(program, "w");
  if (pipe == nullptr) {
    std::fprintf(stderr, "reprise redirect: %s cannot be run\n", program);
    return exit_runtime;
  }
  std::fputs(text.c_str(), pipe);
  if (::pclose(pipe) == 0) return exit_ok;
  std::fprintf(stderr,
               "reprise redirect: %s refused the rules: it has to be installed, and to be run as root\n",
               program);
  return exit_runtime;
}

int redirect(const RedirectArguments& given) {
  const bool nft = given.print == "nft";
  const char* const program = nft ? "nft -f -" : "/bin/sh -e";
  if (given.remove) return feed(program, nft ? redirect::nft_removal() : redirect::iptables_removal());
  const config::Loaded loaded = load_configuration(given.file);
  if (!loaded.settings) return exit_bad_configuration;
  const redirect::Redirection rules = redirect::redirection_of(*loaded.settings, given.user);
  if (!rules.ipv4 && !rules.ipv6) {
    std::fprintf(
        stderr,
        "%s: error: listeners: none is transparent: write {mode: transparent, bind: 127.0.0.1:3190}\n",
        given.file.c_str());
    return exit_bad_configuration;
  }
  for (const auto& listener : {rules.ipv4, rules.ipv6}) {
    if (!listener || listener->port != 0) continue;
    std::fputs("reprise redirect: the transparent listener takes any free port (port 0): give it one\n",
               stderr);
    return exit_usage;
  }
  const std::string text = nft ? redirect::nft_rules(rules) : redirect::iptables_rules(rules);
  if (given.apply) return feed(program, text);
  std::fputs(text.c_str(), stdout);
  return exit_ok;
}

}  // namespace

void add_redirect(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("redirect", "the rules that send this host's connections to transparent listeners");
  const auto given = std::make_shared<RedirectArguments>();
  command->add_option("-c,--config,config", given->file, "configuration file")->required();
  command->add_option("--print", given->print, "nft: for nft -f -; iptables: commands for a shell")
      ->required()
      ->check(CLI::IsMember({"nft", "iptables"}));
  command
      ->add_option("--user", given->user,
                   "the user that reprise runs as, whose connections are left alone; a name or a number")
      ->check([](const std::string& name) {
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
        const bool plain =
            !name.empty() && name.front() != '-' && name.find_first_not_of(letters) == std::string::npos;
        return plain ? std::string() : "is no name of a user: " + name;
      });
  CLI::Option* apply =
      command->add_flag("--apply", given->apply, "put them into force; again changes nothing");
  command->add_flag("--remove", given->remove, "take them away, whether they are there or not")
      ->excludes(apply);
  command->footer("reprise redirect --print nft -c reprise.yaml | sudo nft -f -");
  command->callback([given, &code] { code = redirect(*given); });
}

}  // namespace reprise::cli
