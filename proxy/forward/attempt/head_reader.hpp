// Reads the response head of one attempt, also while the request is still being sent.
#pragma once

#include <optional>

#include "proxy/forward/attempt/one_attempt.hpp"
#include "proxy/forward/request/interim.hpp"
#include "proxy/forward/request/upload_stall.hpp"
#include "proxy/http/message/interims.hpp"

namespace reprise::forward {

/// Reads the response head of one attempt, and reports a final head or a failure. The outcome also depends on
/// how the upload ends and on whether the client leaves meanwhile.
class HeadReader final : public UploadListener {
 public:
  /// Keeps the references that `one` contains, but no reference to `one` itself. This object may live longer
  /// than `one`, because the upload may outlive the attempt.
  explicit HeadReader(OneAttempt& one)
      : worker_(one.worker),
        out_(one.out),
        client_(one.client),
        stop_(one.cancel),
        deadline_(one.deadline),
        response_(one.response) {}

  /// Starts waiting for the response. Precondition: the upload has begun.
  void begin(const Upload&);
  /// Reads until a head is complete or no head can follow. If the previous call has read an interim head,
  /// passes that interim head to the client instead of reading.
  Task<ErrorCode> read_on();
  /// Returns the result of the last `read_on`: the final head, whose body is unread, or a failure. Absent if
  /// `read_on` must be called again.
  std::optional<policy::Outcome> outcome_of(const ErrorCode&, const Upload&, const UploadStall&) const;
  ClientState client_state() const { return client_state_; }
  /// Returns true if an interim response had fields that announce a body. The upstream may still send that
  /// body (row B1).
  bool in_doubt() const { return in_doubt_; }
  void upload_ended(UploadEnd end) override;

 private:
  enum class Taken : std::uint8_t { partial, interim, outcome };

  void limit_head();
  policy::Failed failed(const ErrorCode&, UploadEnd, const UploadStall&) const;
  Taken take_head();
  Task<ErrorCode> pass_on_interim();
  net::UpstreamEnd& upstream() const { return response_.connection.end(); }

  Worker& worker_;
  Outgoing& out_;
  net::ClientEnd* client_;
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
