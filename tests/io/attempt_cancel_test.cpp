// Tests AttemptCancel, which stops an operation of an attempt. A guard registers the operation, which can be
// stopped while the guard and the attempt exist.
#include "proxy/net/io/attempt_cancel.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace reprise::net {
namespace {

class Waited final : public Cancellable, public LivenessCheck {
 public:
  int times = 0;
  int looks = 0;
  void cancel() override { ++times; }
  void check_liveness() override { ++looks; }
};

TEST(AttemptCancel, cancel_stops_only_the_current_target) {
  AttemptCancel cancel;
  Waited first;
  Waited second;
  { const AttemptCancel::Target target(cancel, first); }
  const AttemptCancel::Target target(cancel, second);
  cancel.cancel();
  EXPECT_TRUE(cancel.stopped());
  EXPECT_EQ(first.times, 0);
  EXPECT_EQ(second.times, 1);
}

TEST(AttemptCancel, target_registered_after_cancel_is_stopped_at_once) {
  AttemptCancel cancel;
  cancel.cancel();
  Waited waited;
  const AttemptCancel::Target target(cancel, waited);
  EXPECT_EQ(waited.times, 1);
}

TEST(AttemptCancel, cancel_stops_the_current_target_and_not_one_that_ended_earlier) {
  AttemptCancel cancel;
  Waited first;
  Waited second;
  AttemptCancel::Target early(cancel, first);
  early.end();
  const AttemptCancel::Target target(cancel, second);
  early.end();
  cancel.cancel();
  EXPECT_EQ(first.times, 0);
  EXPECT_EQ(second.times, 1);
}

TEST(AttemptCancel, liveness_check_reaches_the_attempt_only_while_it_is_registered_as_watched) {
  AttemptCancel cancel;
  Waited waited;
  AttemptCancel& looked_at = cancel;
  {
    const AttemptCancel::Watched watched(cancel, &waited);
    looked_at.check_liveness();
  }
  looked_at.check_liveness();
  const AttemptCancel::Watched by_nobody(cancel, nullptr);
  looked_at.check_liveness();
  EXPECT_EQ(waited.looks, 1);
}

// When a thread ends, frames of separately spawned coroutines are destroyed in no fixed order.
TEST(AttemptCancel, registration_guards_may_be_destroyed_after_the_cancel_object) {
  Waited waited;
  auto cancel = std::make_unique<AttemptCancel>();
  std::optional<AttemptCancel::Target> target(std::in_place, *cancel, waited);
  std::optional<AttemptCancel::Watched> watched(std::in_place, *cancel, &waited);
  cancel.reset();
  target.reset();
  watched.reset();
  EXPECT_EQ(waited.times + waited.looks, 0);
}

}  // namespace
}  // namespace reprise::net
