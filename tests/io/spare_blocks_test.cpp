// Tests that unused blocks of memory are freed some time after a burst of use.
#include "proxy/net/io/spare_blocks.hpp"

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

TEST(SpareBlocks, unused_spare_blocks_are_freed_after_an_idle_period) {
  Bench bench;
  SpareBlocks spare(bench.tick, Tick::granule);
  std::vector<Block> lent(300);
  for (Block& block : lent) block = Block(block_bytes);
  EXPECT_TRUE(has_more_blocks_than_kept());
  spare.look();
  lent.clear();
  EXPECT_TRUE(bench.run_until([] { return !has_more_blocks_than_kept(); }));
}

}  // namespace
}  // namespace reprise::net
