#include <openssl/x509.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "proxy/cli/commands.hpp"
#include "proxy/cli/configuration.hpp"
#include "proxy/intercept/secret_memory.hpp"
#include "proxy/intercept/trust.hpp"

namespace reprise::cli {
namespace {

using net::Authority;

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

void print(const config::Intercept& intercept, const Authority& authority) {
  std::string hosts;
  for (const std::string& host : authority.permitted()) hosts.append(hosts.empty() ? "" : ", ").append(host);
  std::printf("certificate  %s\nkey          %s\n", intercept.certificate.c_str(), intercept.key.c_str());
  std::printf("hosts        %s\nexpires      %s\nsha256       %s\n", hosts.c_str(),
              date_text(authority.expires()).c_str(), fingerprint_text(authority.certificate()).c_str());
  if (!intercept.bundle) return;
  std::printf("bundle       %s\ntruststore   %s (password %s)\n", intercept.bundle->c_str(),
              net::truststore_file(*intercept.bundle).c_str(), net::truststore_password);
}

// The certificate for the key that is there.
Authority certified(net::PrivateKey key, const config::Intercept& intercept) {
  net::Certificate made = Authority::certify(key.get(), intercept.hosts, wall_seconds());
  return {std::move(made), std::move(key)};
}

void write(const config::Intercept& intercept, const Authority& authority) {
  net::replace_file(intercept.certificate, authority.certificate_text());
  if (intercept.bundle) net::write_trust(*intercept.bundle, authority);
}

void init(const config::Intercept& intercept) {
  net::PrivateKey key = Authority::make_key();
  net::write_new_key(intercept.key, key.get());
  const Authority authority = certified(std::move(key), intercept);
  write(intercept, authority);
  print(intercept, authority);
}

void renew(const config::Intercept& intercept, const std::string& file) {
  const Authority authority = certified(net::read_key(intercept, file), intercept);
  write(intercept, authority);
  print(intercept, authority);
}

void show(const config::Intercept& intercept, const std::string& file) {
  const auto authority = net::read_authority(intercept, file);
  print(intercept, *authority);
  net::check_authority(*authority, intercept, file, wall_seconds());
}

int ca(std::string_view verb, const std::string& file) {
  const config::Loaded loaded = load_configuration(file);
  if (!loaded.settings) return exit_bad_configuration;
  if (!loaded.settings->intercept) {
    std::fprintf(
        stderr,
        "%s: error: intercept is missing: write intercept: {hosts: [api.example.com], ca: {certificate: "
        "/run/reprise/ca/ca.pem, key: /run/reprise/ca/ca.key}}\n",
        file.c_str());
    return exit_bad_configuration;
  }
  const config::Intercept& intercept = *loaded.settings->intercept;
  net::reserve_secret_memory();
  try {
    if (verb == "init") init(intercept);
    if (verb == "renew") renew(intercept, file);
    if (verb == "show") show(intercept, file);
  } catch (const net::InterceptError& error) {
    return tell_intercept_error(file, error);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "reprise ca %s: %s\n", std::string(verb).c_str(), error.what());
    return exit_runtime;
  }
  return exit_ok;
}

}  // namespace

void add_ca(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("ca", "make, show or renew the authority of intercept");
  command->require_subcommand(1);
  command->footer("reprise ca init -c reprise.yaml");
  constexpr std::array<std::pair<const char*, const char*>, 3> verbs{
      {{"init", "make the key and the certificate, and the bundle; a key that is there is never replaced"},
       {"show", "say for which hosts it is, until when, and what is wrong with it"},
       {"renew", "make a new certificate of the same key for the hosts that are listed now"}}};
  for (const auto& [verb, sentence] : verbs) {
    CLI::App* one = command->add_subcommand(verb, sentence);
    const CLI::Option* file = one->add_option("-c,--config,config", "configuration file")->required();
    one->footer("reprise ca " + std::string(verb) + " -c reprise.yaml");
    one->callback([file, verb = std::string_view(verb), &code] { code = ca(verb, given_file(file)); });
  }
}

}  // namespace reprise::cli
