// The gRPC call that `explain` is asked about, read from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/grpc_status.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::cli {

/// The command-line arguments that describe the call and how it ends.
struct CallArguments {
  std::string name;            ///< SERVICE/METHOD; empty if the request is another one
  std::string timeout;         ///< time that the client gives the call; may be empty
  std::string status;          ///< status with which the call ends; may be empty
  std::string pushback;        ///< wait that the server asks for; may be empty
  bool after_message = false;  ///< the call ends after the first message of the response
};

/// Adds the options of a call to the command. Returns the option `--grpc`.
CLI::Option* add_call_options(CLI::App&, CallArguments&);

/// The request that a call is.
struct CalledMethod {
  std::string url;
  std::vector<std::string> fields;  ///< `Name: value` of each field that the client sends
};

/// Returns the request of the call at the upstream with that URL. Throws BadUse if the URL has a path, or if
/// an argument is invalid. Precondition: the call has a name, and the URL is absolute or empty.
CalledMethod called_method(const CallArguments&, std::string_view url);

/// Returns when the client's own deadline ends, if the head arrives at Instant{}. Returns nothing if the call
/// has no deadline (row M88).
std::optional<policy::Instant> call_deadline(const http::RequestHead&);

/// Returns the status with which the call ends, if the command line names one. Throws BadUse.
std::optional<policy::GrpcStatus> ending_of(const CallArguments&);

/// Returns the field with which the server asks for a wait. Throws BadUse. Precondition: the command line has
/// a pushback.
std::string pushback_field(const CallArguments&);

}  // namespace reprise::cli
