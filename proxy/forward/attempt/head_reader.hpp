// Reads the head of an attempt's response while the request may still be on its way.
#pragma once

#include <optional>

#include "proxy/forward/attempt/one_attempt.hpp"
#include "proxy/forward/request/interim.hpp"
#include "proxy/forward/request/upload_stall.hpp"
#include "proxy/http/message/interims.hpp"

namespace reprise::forward {

/// One attempt's. Says how it came out: a final head, or how it failed; what ends the upload and what the
/// client does meanwhile is part of it.
class HeadReader final : public UploadListener {
 public:
  /// Keeps what `one` refers to, and not `one`: a sending may go on when the attempt is over.
  explicit HeadReader(OneAttempt& one)
      : worker_(one.worker),
        out_(one.out),
        client_(one.client),
        stop_(one.cancel),
        deadline_(one.deadline),
        response_(one.response) {}

  /// The upload has begun: its response is awaited.
  void begin(const Upload&);
  /// Until there is a head, or none will come. One that is interim goes on to the client by the next call.
  Task<ErrorCode> read_on();
  /// What came of `read_on`: the final head, whose body is unread, or a failure. Absent: it has to go on.
  std::optional<policy::Outcome> outcome_of(const ErrorCode&, const Upload&, const UploadStall&) const;
  ClientState client_state() const { return client_state_; }
  /// True where an interim response had the fields of a body: what it takes for one may come yet (row B1).
  bool in_doubt() const { return in_doubt_; }
  void upload_ended(UploadEnd end) override;

 private:
  enum class Taken : std::uint8_t { partial, interim, outcome };

  void limit_head();
  policy::Failed failed(const ErrorCode&, UploadEnd, const UploadStall&) const;
  Taken take_head();
  Task<ErrorCode> pass_on_interim();
  net::Stream& upstream() { return response_.connection->stream(); }

  Worker& worker_;
  Outgoing& out_;
  net::Stream* client_;
  net::AttemptCancel& stop_;
  std::optional<Instant> deadline_;
  Response& response_;
  http::Interims interims_;
  Taken taken_ = Taken::partial;
  policy::Outcome outcome_;
  policy::Cause limit_cause_ = policy::Cause::response_timeout;
  ClientState client_state_ = ClientState::present;
  bool in_doubt_ = false;
};

}  // namespace reprise::forward
