#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/named_files.hpp"
#include "proxy/cli/terminal/progress.hpp"
#include "proxy/server/intercept/key_owner.hpp"
#include "proxy/server/intercept/secret_memory.hpp"
#include "proxy/server/intercept/trust.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::cli {
namespace {

using server::Authority;

std::string date_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&time, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string fingerprint_text(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  X509_digest(certificate, EVP_sha256(), digest.data(), &size);
  std::string text;
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (unsigned i = 0; i < size; ++i) {
    if (i > 0) text.push_back(':');
    text.push_back(digits[digest[i] >> 4U]);
    text.push_back(digits[digest[i] & 15U]);
  }
  return text;
}

struct CaArguments {
  std::string file;
  std::string format = "text";
};

std::string owner_text(const std::string& file) {
  struct stat state {};
  return ::stat(file.c_str(), &state) == 0 ? server::user_name(state.st_uid) : std::string();
}

void print_json(const config::Intercept& intercept, const Authority& authority) {
  const auto& bundle = intercept.bundle;
  const json::object out{
      {"certificate", intercept.certificate},
      {"key", intercept.key},
      {"owner", owner_text(intercept.key)},
      {"hosts", telemetry::list_of(authority.permitted())},
      {"expires", authority.expires()},
      {"sha256", fingerprint_text(authority.certificate())},
      {"bundle", telemetry::or_null(bundle)},
      {"truststore", bundle ? json::value(server::truststore_file(*bundle)) : json::value()}};
  std::printf("%s\n", telemetry::document_text(out).c_str());
}

void print(const CaArguments& given, const config::Intercept& intercept, const Authority& authority) {
  if (given.format == "json") return print_json(intercept, authority);
  std::string hosts;
  for (const std::string& host : authority.permitted()) hosts.append(hosts.empty() ? "" : ", ").append(host);
  std::printf("certificate  %s\nkey          %s\n", intercept.certificate.c_str(), intercept.key.c_str());
  std::printf("owner        %s\n", owner_text(intercept.key).c_str());
  std::printf("hosts        %s\nexpires      %s\nsha256       %s\n", hosts.c_str(),
              date_text(authority.expires()).c_str(), fingerprint_text(authority.certificate()).c_str());
  if (const auto command = server::command_for_owner(intercept.key))
    print_on_stderr(config::LogLevel::warn,
                    "warning: a service that runs as another user cannot read the key: run " + *command);
  if (!intercept.bundle) return;
  std::printf("bundle       %s\ntruststore   %s (password %s)\n", intercept.bundle->c_str(),
              server::truststore_file(*intercept.bundle).c_str(), server::truststore_password);
}

// Issues a new certificate for `key`. Returns the certificate and the key as an authority.
Authority certified(server::PrivateKey key, const config::Intercept& intercept) {
  server::Certificate made = Authority::certify(key.get(), intercept.hosts, wall_seconds());
  return {std::move(made), std::move(key)};
}

void write(const config::Intercept& intercept, const Authority& authority, StepProgress& progress) {
  progress.step("writing the certificate " + intercept.certificate);
  server::replace_file(intercept.certificate, authority.certificate_text());
  if (!intercept.bundle) return;
  progress.step("writing the files that clients trust, " + *intercept.bundle);
  server::write_trust(*intercept.bundle, authority);
}

std::size_t steps_of(const config::Intercept& intercept) { return intercept.bundle ? 3 : 2; }

void init(const CaArguments& given, const config::Intercept& intercept) {
  StepProgress progress(steps_of(intercept));
  progress.step("creating the key " + intercept.key);
  server::PrivateKey key = Authority::make_key();
  server::write_new_key(intercept.key, key.get());
  const Authority authority = certified(std::move(key), intercept);
  write(intercept, authority, progress);
  progress.clear();
  print(given, intercept, authority);
}

void renew(const CaArguments& given, const config::Intercept& intercept) {
  StepProgress progress(steps_of(intercept));
  progress.step("reading the existing key " + intercept.key);
  const Authority authority = certified(server::read_key(intercept, given.file), intercept);
  write(intercept, authority, progress);
  progress.clear();
  print(given, intercept, authority);
}

void show(const CaArguments& given, const config::Intercept& intercept) {
  const auto authority = server::read_authority(intercept, given.file);
  print(given, intercept, *authority);
  server::check_authority(*authority, intercept, given.file, wall_seconds());
}

int ca(std::string_view verb, const CaArguments& given) {
  const std::string& file = given.file;
  const config::Loaded loaded = load_configuration(file);
  if (!loaded.settings) return exit_bad_configuration;
  if (!loaded.settings->intercept) {
    print_on_stderr(
        config::LogLevel::error,
        file +
            ": error: intercept is missing: write intercept: {hosts: [api.example.com], ca: {certificate: "
            "/run/reprise/ca/ca.pem, key: /run/reprise/ca/ca.key}}");
    return exit_bad_configuration;
  }
  const config::Intercept& intercept = *loaded.settings->intercept;
  server::reserve_secret_memory();
  try {
    if (verb == "init") init(given, intercept);
    if (verb == "renew") renew(given, intercept);
    if (verb == "show") show(given, intercept);
  } catch (const server::InterceptError& error) {
    print_on_stderr(config::LogLevel::error, line_of_file(loaded, file, error.what()));
    return exit_bad_configuration;
  } catch (const std::runtime_error& error) {
    print_on_stderr(config::LogLevel::error, "reprise ca " + std::string(verb) + ": " + error.what());
    return exit_runtime;
  }
  return exit_ok;
}

}  // namespace

void add_ca(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("ca", "create, show or renew the certificate authority for interception");
  command->require_subcommand(1);
  command->footer("reprise ca init -c reprise.yaml");
  constexpr std::array<std::pair<const char*, const char*>, 3> verbs{
      {{"init", "create the key, the certificate and the bundle; an existing key is never replaced"},
       {"show", "show the certificate's hosts and expiry, and report problems"},
       {"renew", "issue a new certificate with the same key for the hosts that are listed now"}}};
  for (const auto& [verb, sentence] : verbs) {
    CLI::App* one = command->add_subcommand(verb, sentence);
    const auto given = std::make_shared<CaArguments>();
    one->add_option("-c,--config,config", given->file, "configuration file")->required();
    one->add_option("--format", given->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    one->footer("reprise ca " + std::string(verb) + " -c reprise.yaml");
    one->callback([given, verb = std::string_view(verb), &code] { code = ca(verb, *given); });
  }
}

}  // namespace reprise::cli
