// Returns memory blocks to the system after a burst, if they were not needed for a while.
#pragma once

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::net {

/// One per io thread; used on that thread only.
class SpareBlocks final : public Timed {
 public:
  explicit SpareBlocks(Tick& tick, Duration pause = std::chrono::milliseconds(250))
      : tick_(tick), pause_(pause) {}

  /// If this thread has more blocks than it keeps permanently, starts a timer that frees the idle ones. Call
  /// during a burst of load, because no call may follow after the burst.
  void look() {
    if (waits_ || !has_more_blocks_than_kept()) return;
    waits_ = true;
    tick_.arm(*this, pause_);
  }

 protected:
  void time_is_up() override {
    free_spare_blocks();
    waits_ = false;
    look();
  }

 private:
  Tick& tick_;
  const Duration pause_;
  bool waits_ = false;
};

}  // namespace reprise::net
