// A request that is sent on beside its response, because the response began first (row C5).
#pragma once

#include "proxy/exchange/client_side.hpp"
#include "proxy/exchange/relay.hpp"
#include "proxy/worker/worker.hpp"

namespace reprise::net {

/// Of one delivery. `begin` and `end` are for a response with a request that is still being sent. Everything
/// must outlive it, and `end` must have ended before it is destroyed.
class FullDuplex final : UploadListener {
 public:
  FullDuplex(Worker& worker, Request& request, Response& response)
      : worker_(worker), request_(request), response_(response) {}
  ~FullDuplex();
  FullDuplex(const FullDuplex&) = delete;
  FullDuplex& operator=(const FullDuplex&) = delete;

  /// Before the response is relayed. Ends the sending where the response came in place of a 100 (row C3), or
  /// is an error that closes its connection.
  Task<void> begin();
  /// After it was relayed. The sending goes on until the client's body ends or the upstream closes its side;
  /// after an error it ends at once. The connection goes to the pool if both sides have ended on it.
  Task<void> end(const Relayed&);
  /// The client left before its body ended, or that is malformed: the response is cut.
  bool client_left() const { return client_left_; }

 private:
  void upload_ended(UploadEnd) override;
  bool is_running() const;
  Stream& upstream() { return response_.connection->stream(); }

  Worker& worker_;
  Request& request_;
  Response& response_;
  bool client_left_ = false;
  bool waits_for_end_ = false;
};

/// True where the client still waits for a 100 and gets a final response instead.
bool is_unasked_body(const Request&);

}  // namespace reprise::net
