// Continues to send a request while its response is relayed, if the response began before the request was
// sent (row C5).
#pragma once

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/exchange/relay.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Serves one delivery. Precondition of `begin` and `end`: the response has a request that is still being
/// sent. The constructor's arguments must outlive this object. `end` must have finished before this object is
/// destroyed.
class FullDuplex final : UploadListener {
 public:
  FullDuplex(Worker& worker, const Outgoing& out, Response& response)
      : worker_(worker), out_(out), response_(response) {}
  ~FullDuplex();
  FullDuplex(const FullDuplex&) = delete;
  FullDuplex& operator=(const FullDuplex&) = delete;

  /// Call before the response is relayed. Stops the upload if the response came in place of a 100 (row C3),
  /// or if the response is an error that closes the upstream's connection.
  Task<void> begin();
  /// Call after the response was relayed. Lets the upload continue until the client's body ends or the
  /// upstream closes its side of the connection. Stops the upload at once after an error. Returns the
  /// connection to the pool if request and response are both complete.
  Task<void> end(const Relayed&);
  /// Returns true if the client left before its body ended, or sent a malformed body. The response is then
  /// cut.
  bool client_left() const { return client_left_; }

 private:
  void upload_ended(UploadEnd) override;
  net::UpstreamEnd& upstream() { return response_.connection.end(); }

  Worker& worker_;
  const Outgoing& out_;
  Response& response_;
  bool client_left_ = false;
  bool waits_for_end_ = false;
};

}  // namespace reprise::forward
