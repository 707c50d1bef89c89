// Notices, once the deadline is there, that an upstream takes nothing more of a request that may be repeated.
#pragma once

#include <optional>

#include "proxy/io/tick.hpp"
#include "proxy/message/request.hpp"
#include "proxy/replay/upload.hpp"

namespace reprise::net {

/// One per attempt. Ends it if, at the deadline or later, the upstream has taken no byte for a second though
/// some wait for it (decision 0014, row L6). A client that pauses does not count, nor does a body that moves,
/// however slowly. Looks ten times a second, from a second before the deadline on: a request that is done by
/// then costs nothing but the arming, one without a body not even that.
class UploadStall final : public Timed {
 public:
  /// Everything must outlive it.
  UploadStall(Tick& tick, const Request& request, const Upload& upload, Stream& upstream,
              std::optional<Instant> deadline)
      : tick_(tick), request_(request), upload_(upload), upstream_(upstream), deadline_(deadline) {}

  /// The upload has begun.
  void watch();
  /// The attempt has an outcome.
  void end() { Tick::disarm(*this); }
  /// True if it has cancelled the connection's reads and writes.
  bool ended_attempt() const { return ended_attempt_; }

 private:
  void time_is_up() override;

  Tick& tick_;
  const Request& request_;
  const Upload& upload_;
  Stream& upstream_;
  std::optional<Instant> deadline_;
  std::optional<Outflow> seen_;
  Instant moved_{};  ///< when `seen_` was new, or nothing waited
  bool ended_attempt_ = false;
};

}  // namespace reprise::net
