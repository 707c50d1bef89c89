// Relays an upstream's response to the client: the head together with the buffered body bytes, then the rest.
#pragma once

#include <optional>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/net/ends/client_end.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

struct Relayed {
  enum class End : std::uint8_t { complete, broken, client_gone };
  End end = End::complete;
  policy::Cause cause = policy::Cause::truncated;  ///< only for `broken`
  /// Number of relayed body bytes. If `end` is `complete` or `broken`, the kernel has accepted all of them
  /// for sending.
  std::uint64_t bytes = 0;
  bool head_sent = false;  ///< the kernel has accepted the whole head
  bool stalled = false;    ///< only for `broken`: no byte of the body arrived within its idle limit
  /// Only for `broken`: the code with which the upstream has reset the HTTP/2 stream.
  std::optional<policy::Http2Code> reset_code{};
  /// For a gRPC call: the status that ended it; absent if there was none.
  std::optional<policy::GrpcStatus> grpc{};
  /// Only for `broken`: the connection was lost, and the client of the gRPC call has no part of a message.
  bool between_messages = false;
};

/// Sends `head` first; `head` is empty if a stalled body continues. A body without a new byte for
/// `stall_limit_of` counts as broken. A broken body is never terminated: the client gets no last chunk and no
/// clean close (the caller cuts the connection).
Task<Relayed> relay(net::Pool&, const Outgoing&, net::ClientEnd& client, std::string_view head, Response&);

/// Returns the result for a body that broke with `step`. `bytes`: number of body bytes that the client has.
Relayed broken(net::BodyStep step, std::uint64_t bytes);

/// Waits until the client's host has acknowledged all bytes. Gives up if no byte is acknowledged for half a
/// minute.
Task<void> until_all_is_acknowledged(net::ClientEnd& client, net::Pause&);

/// Counts in the metrics which idle limit ended the relay, if any.
void count_limit(telemetry::Metrics&, const Relayed&, net::ClientEnd& client);

/// Returns true if the body is sent chunked: the client supports it, and the length is not known in advance.
bool sends_chunked(const Incoming&, const Response&);
/// Returns true if the client can distinguish the body's end from a broken connection. False if only the end
/// of the connection ends the body.
bool is_framed_for_client(const Incoming&, const Response&);

}  // namespace reprise::forward
