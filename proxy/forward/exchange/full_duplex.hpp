// A request that is sent on beside its response, because the response began first (row C5).
#pragma once

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/exchange/relay.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Serves one delivery. Call `begin` and `end` only if the response has a request that is still being sent.
/// Everything that the constructor takes must outlive the object, and `end` must have ended before the object
/// is destroyed.
class FullDuplex final : UploadListener {
 public:
  FullDuplex(Worker& worker, const Outgoing& out, Response& response)
      : worker_(worker), out_(out), response_(response) {}
  ~FullDuplex();
  FullDuplex(const FullDuplex&) = delete;
  FullDuplex& operator=(const FullDuplex&) = delete;

  /// Before the response is relayed. Ends the sending where the response came in place of a 100 (row C3), or
  /// is an error that closes its connection.
  Task<void> begin();
  /// Call after the response was relayed. Lets the sending go on until the client's body ends or the upstream
  /// closes its side; stops it at once after an error. Gives the connection to the pool if both messages have
  /// ended on it.
  Task<void> end(const Relayed&);
  /// True if the client left before its body ended, or sent a malformed body: the response is cut then.
  bool client_left() const { return client_left_; }

 private:
  void upload_ended(UploadEnd) override;
  net::Stream& upstream() { return response_.connection->stream(); }

  Worker& worker_;
  const Outgoing& out_;
  Response& response_;
  bool client_left_ = false;
  bool waits_for_end_ = false;
};

}  // namespace reprise::forward
