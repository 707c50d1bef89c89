// The words of other tools, and the keys that they stand for.
#pragma once

#include <array>
#include <string_view>

namespace reprise::config {

struct Synonym {
  std::string_view word;    ///< as `folded` makes it
  std::string_view path;    ///< ours, in the key table
  std::string_view note{};  ///< what to mind
};

inline constexpr std::string_view counts_all = "it counts the first attempt too";
inline constexpr std::string_view always_verified =
    "certificates are always verified: name the file of the authority that signed them";
inline constexpr std::string_view three_times =
    "or connect_timeout, response_timeout, retry.deadline: each ends something else";

inline constexpr auto synonym_table = std::to_array<Synonym>({
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

}  // namespace reprise::config
