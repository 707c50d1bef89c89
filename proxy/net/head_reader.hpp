// Reads the head of an attempt's answer while the request may still be on its way.
#pragma once

#include <optional>

#include "proxy/net/attempt.hpp"
#include "proxy/net/interim.hpp"
#include "proxy/net/upload_stall.hpp"

namespace reprise::net {

/// One attempt's. Says how it came out: a final head, or how it failed; what ends the upload and what the
/// client does meanwhile is part of it.
class HeadReader final : public UploadListener {
 public:
  /// Interim answers go to `client`, or nowhere if it is null. Everything must outlive it.
  HeadReader(Loop& loop, Request& request, Stream* client, Stop& stop, std::optional<Instant> deadline,
             Answer& answer)
      : loop_(loop), request_(request), client_(client), stop_(stop), deadline_(deadline), answer_(answer) {}

  /// Returns at the final head, whose body is unread, or at a failure.
  Task<policy::Outcome> read(Upload& upload, UploadStall& stall);
  ClientState client_state() const { return client_state_; }
  /// True where an interim answer had the fields of a body: what it takes for one may come yet (row B1).
  bool in_doubt() const { return in_doubt_; }
  void upload_ended(UploadEnd end) override;

 private:
  enum class Taken : std::uint8_t { partial, interim, outcome };

  void limit_head();
  policy::Failed failed(const ErrorCode&, UploadEnd, const UploadStall&) const;
  Taken take_head();
  Task<bool> pass_on_interim();
  Stream& upstream() { return answer_.connection->stream(); }

  Loop& loop_;
  Request& request_;
  Stream* client_;
  Stop& stop_;
  std::optional<Instant> deadline_;
  Answer& answer_;
  Interims interims_;
  policy::Outcome outcome_;
  policy::Cause limit_cause_ = policy::Cause::response_timeout;
  ClientState client_state_ = ClientState::present;
  bool in_doubt_ = false;
};

}  // namespace reprise::net
