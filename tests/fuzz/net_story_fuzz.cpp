// Fuzz target: stories of the whole proxy in memory. The input replaces the random numbers of the proxy, its
// clients and its upstreams. The invariants of the simulation must hold.
#include "tests/fuzz/input.hpp"
#include "tests/simulation/story.hpp"

namespace reprise::fuzz {
namespace {

constexpr std::size_t seed_bytes = 2;  // bytes of the input that seed the random numbers used after its end

simulation::Played tell(std::uint64_t number, std::span<const std::uint8_t> bytes, bool aloud = false) {
  static simulation::Stage stage;
  simulation::CoverageMarks marks;
  simulation::Tape tape(bytes);
  simulation::Play what;
  what.seed = {number, &tape};
  what.tells = aloud;
  return simulation::play(stage, what, marks);
}

void judge(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < seed_bytes) return;
  const std::uint64_t seed = bytes[0] + 256U * bytes[1];
  const simulation::Played played = tell(seed, bytes.subspan(seed_bytes));
  if (!played.broken.empty()) (void)tell(seed, bytes.subspan(seed_bytes), true);
  law(played.broken.empty(), played.broken.c_str());
  if (seed % 64 != 1) return;
  law(tell(seed, bytes.subspan(seed_bytes)).hash == played.hash, "the same bytes tell the same story");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::judge({bytes, size});
  return 0;
}
