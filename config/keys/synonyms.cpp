#include "config/keys/synonyms.hpp"

#include <algorithm>
#include <array>

#include "config/keys/keys.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view counts_all = "it counts the first attempt too";
constexpr std::string_view always_verified =
    "certificates are always verified: name the file of the authority that signed them";
constexpr std::string_view three_times =
    "or connect_timeout, response_timeout, retry.deadline: each ends something else";

constexpr auto table = std::to_array<Synonym>({
    {"retries", "defaults.retry.max_attempts", counts_all},
    {"maxretries", "defaults.retry.max_attempts", counts_all},
    {"numretries", "defaults.retry.max_attempts", counts_all},
    {"retrycount", "defaults.retry.max_attempts", counts_all},
    {"attempts", "defaults.retry.max_attempts"},
    {"tries", "defaults.retry.max_attempts"},
    {"retryon", "defaults.retry.on"},
    {"statuses", "defaults.retry.on"},
    {"statuscodes", "defaults.retry.on"},
    {"codes", "defaults.retry.on"},
    {"retryablestatuscodes", "defaults.retry.on"},
    {"timeout", "defaults.retry.attempt_timeout", three_times},
    {"pertrytimeout", "defaults.retry.attempt_timeout"},
    {"readtimeout", "defaults.response_timeout"},
    {"requesttimeout", "defaults.retry.deadline"},
    {"totaltimeout", "defaults.retry.deadline"},
    {"delay", "defaults.retry.backoff.initial"},
    {"interval", "defaults.retry.backoff.initial"},
    {"baseinterval", "defaults.retry.backoff.initial"},
    {"maxinterval", "defaults.retry.backoff.maximum"},
    {"maxdelay", "defaults.retry.backoff.maximum"},
    {"factor", "defaults.retry.backoff.multiplier"},
    {"verify", "defaults.tls.ca_file", always_verified},
    {"insecure", "defaults.tls.ca_file", always_verified},
    {"skipverify", "defaults.tls.ca_file", always_verified},
    {"insecureskipverify", "defaults.tls.ca_file", always_verified},
    {"tlsverify", "defaults.tls.ca_file", always_verified},
    {"sslverify", "defaults.tls.ca_file", always_verified},
    {"ca", "defaults.tls.ca_file"},
    {"cacert", "defaults.tls.ca_file"},
    {"cafile", "defaults.tls.ca_file"},
    {"cert", "defaults.tls.certificate"},
    {"ssl", "defaults.tls"},
    {"https", "defaults.tls"},
    {"idempotency", "defaults.idempotent"},
    {"circuitbreaker", "defaults.circuit"},
    {"listen", "listeners[].bind"},
    {"port", "listeners[].bind"},
    {"address", "listeners[].bind"},
    {"listener", "listeners"},
    {"backend", "listeners[].upstream"},
    {"target", "listeners[].upstream"},
    {"proxypass", "listeners[].upstream"},
    {"proxy", "parent"},
    {"parentproxy", "parent"},
    {"upstreamproxy", "parent"},
    {"loglevel", "log.level"},
    {"workers", "threads"},
    {"metrics", "admin"},
});

// As it is written at `parent`: without what it has in common with it.
std::string_view seen_from(std::string_view parent, std::string_view path) {
  const std::string inherited = inherited_path(parent);
  const std::string below = (inherited.empty() ? std::string(parent) : inherited) + ".";
  return path.starts_with(below) ? path.substr(below.size()) : path;
}

}  // namespace

std::span<const Synonym> all_synonyms() { return table; }

std::string synonym(std::string_view parent, std::string_view word) {
  const std::string wanted = folded(word);
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const Synonym& known) { return known.word == wanted; });
  if (found == table.end()) return {};
  std::string text(seen_from(parent, found->path));
  text.push_back('?');
  return found->note.empty() ? text : text.append(" ").append(found->note);
}

}  // namespace reprise::config
