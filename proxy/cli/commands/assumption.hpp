// What `explain` assumes of the attempts, read from the command line.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::cli {

/// The command line asks for something that is none; the text is one sentence without a full stop.
class BadUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AssumptionArguments {
  std::optional<int> status;
  std::string failure;  ///< empty: none
  std::vector<std::string> response_headers;
  std::string response_body;  ///< a file; empty: none
  unsigned attempt = 1;
};

struct Assumption {
  policy::Outcome outcome;
  unsigned attempt = 1;
  std::string words;  ///< for people
  std::vector<std::string> request_headers;
  std::string response_head;  ///< of a response, as it would come
  std::string
      junk_hint;  ///< a sentence about a field that should be a hint and is not understood; empty: none
  std::string response_body;
};

/// Without a status and a failure: 503. Where the attempts are answered, those of `headers`
/// that only responses have (Retry-After, x-should-retry ...) are the response's; the
/// others stay the request's. Throws BadUse.
Assumption assume(const AssumptionArguments&, const std::vector<std::string>& headers, bool tunnel);

/// The words of `--failure`, which are those of `retry.on`.
std::string failure_words(std::string_view separator);

/// Marks a response that a predicate of the route's `hold.body` matches.
void look_for_predicates(const policy::RoutePolicy&, Assumption&);

/// The bytes of a file that the command line names. Throws BadUse.
std::string read_file(const std::string& path);

/// When the request's signature runs out; told as tools::explain
/// tells time, with the request head at Instant{}.
std::optional<policy::Instant> signature_end(const http::RequestHead&, std::string_view query);

/// The sentence of a refusal without its full stop.
std::string refusal(http::Rejection);

}  // namespace reprise::cli
