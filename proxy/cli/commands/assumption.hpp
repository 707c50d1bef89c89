// The assumed outcome of each attempt for `explain`, read from the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cli/commands/bad_use.hpp"
#include "proxy/cli/commands/explained_call.hpp"
#include "proxy/http/http2/upstream_wire.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::cli {

struct AssumptionArguments {
  std::optional<int> status;
  std::string failure;  ///< failure to assume, as one of the words of `retry.on`; may be empty
  std::string reset;    ///< error code of the RST_STREAM that ends each attempt; may be empty
  bool goaway = false;  ///< a GOAWAY ends each attempt
  std::vector<std::string> response_headers;
  std::string response_body;  ///< name of the file with the response body; may be empty
  unsigned attempt = 1;
  CallArguments call;
};

struct Assumption {
  policy::Outcome outcome;
  bool after_message = false;  ///< a gRPC call: each attempt ends after the first message of its response
  /// Status of a gRPC call that ends after its first message; `outcome` is then the response head.
  std::optional<policy::GrpcStatus> late_status;
  /// How the HTTP/2 stream of each attempt ends. The outcome then depends on the route (`apply_stream_end`).
  std::optional<http::Http2Failure> stream_end;
  unsigned attempt = 1;
  std::string words;  ///< human-readable description of the assumption
  std::vector<std::string> request_headers;
  std::string response_head;  ///< head of the assumed response, as an upstream would send it
  std::string junk_hint;      ///< sentence about a malformed retry hint; empty if no hint is malformed
  std::string response_body;
};

/// Builds the assumption from the command line. If the command line gives neither a status nor a failure,
/// assumes a 503, or for a gRPC call the status `unavailable`. Fields in `headers` that only responses have
/// (Retry-After, x-should-retry ...) go to the assumed response, if there is one. All other fields go to the
/// request. Throws BadUse.
Assumption assume(const AssumptionArguments&, const std::vector<std::string>& headers, bool tunnel);

/// Returns the words that `--failure` accepts, joined by `separator`. They are the same as those of
/// `retry.on`.
std::string failure_words(std::string_view separator);

/// Sets the outcome of an attempt whose stream ends as assumed, on a route with that policy.
void apply_stream_end(const policy::RoutePolicy&, Assumption&);

/// Sets `body_listed` and `body_refused` of the assumed response according to the predicates in `hold.body`
/// of the route.
void apply_predicates(const policy::RoutePolicy&, Assumption&);

/// Returns the bytes of a file that the command line names. Throws BadUse if the file cannot be read.
std::string read_file(const std::string& path);

/// Returns the time at which the request's signature expires, or nothing if the request is not signed. The
/// time is relative to the arrival of the request head, which is at Instant{} (see tools::explain).
std::optional<policy::Instant> signature_end(const http::RequestHead&, std::string_view query);

/// Returns the reason why the proxy rejects the request, as one sentence without a full stop.
std::string refusal(http::Rejection);

}  // namespace reprise::cli
