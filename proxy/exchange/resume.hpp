// A delivered download that broke: the request for its rest, and the rest on its way to the client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/exchange/relay.hpp"
#include "proxy/message/request.hpp"
#include "proxy/message/response.hpp"
#include "proxy/policy/exchange.hpp"
#include "proxy/policy/resume.hpp"

namespace reprise::net {

/// Made when the body of a delivered response breaks; lives until the exchange ends.
class Resumption {
 public:
  /// Closes the connection of `first`, whose head and framing are what the client has; both must outlive it.
  Resumption(Request& request, Response& first);

  /// The body broke after `bytes` more bytes for the client.
  policy::Break broke(policy::Cause, std::uint64_t bytes);
  /// From now on the request's attempts ask for what is missing.
  void ask();
  /// Tells the machine what the head in `response()` brings.
  policy::Actions judge(policy::Exchange&, const policy::AttemptReport&, const policy::Answered&, Instant now,
                        policy::Dice&);
  /// Sends the client what it is still to get of `response()`, framed like the beginning. A body that brings
  /// more than it announced ends as broken, and no byte of the excess is sent.
  Task<Relayed> relay_rest(Pool&, Stream& client);
  /// Of the running attempt.
  Response& response() { return response_; }

 private:
  struct Rest;
  bool take(Rest&, std::string_view piece);
  Task<ErrorCode> send(Stream& client, std::string_view piece);
  Task<Relayed> finish(Pool&, Stream& client, Rest&, bool surplus);

  Request& request_;
  std::optional<policy::Download> download_;  ///< absent: it cannot be continued
  std::optional<Instant> signed_until_;
  std::string outgoing_;  ///< what the attempts before the break sent
  policy::Continuation found_;
  Response response_;
  std::uint64_t sent_ = 0;
  const bool chunked_;  ///< for the client
  bool overran_ = false;
};

}  // namespace reprise::net
