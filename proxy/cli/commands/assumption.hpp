// The assumed outcome of each attempt for `explain`, read from the command line.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::cli {

/// Thrown for a wrong command line. The message is one sentence without a full stop.
class BadUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AssumptionArguments {
  std::optional<int> status;
  std::string failure;  ///< word of the assumed failure; empty if none is assumed
  std::vector<std::string> response_headers;
  std::string response_body;  ///< name of a file with the body; empty if there is none
  unsigned attempt = 1;
};

struct Assumption {
  policy::Outcome outcome;
  unsigned attempt = 1;
  std::string words;  ///< description of the assumption, for people
  std::vector<std::string> request_headers;
  std::string response_head;  ///< head of the assumed response, as an upstream would send it
  std::string junk_hint;      ///< a sentence about a malformed retry hint; empty if there is none
  std::string response_body;
};

/// Reads the assumption. Without a status or a failure, assumes a 503. If a response is assumed, fields in
/// `headers` that only responses have (Retry-After, x-should-retry ...) are added to the response; the other
/// fields are added to the request. Throws BadUse.
Assumption assume(const AssumptionArguments&, const std::vector<std::string>& headers, bool tunnel);

/// Returns the words that `--failure` accepts, joined by `separator`. They are the same as those of
/// `retry.on`.
std::string failure_words(std::string_view separator);

/// Sets `body_listed` and `body_refused` of the assumed response by the predicates of the route's
/// `hold.body`.
void apply_predicates(const policy::RoutePolicy&, Assumption&);

/// Returns the bytes of a file that the command line names. Throws BadUse if the file cannot be read.
std::string read_file(const std::string& path);

/// Returns the time at which the request's signature expires; nothing if the request is not signed. The time
/// is on the clock of tools::explain, where the request head arrives at Instant{}.
std::optional<policy::Instant> signature_end(const http::RequestHead&, std::string_view query);

/// Returns a sentence that says why the proxy rejects the request, without a full stop.
std::string refusal(http::Rejection);

}  // namespace reprise::cli
