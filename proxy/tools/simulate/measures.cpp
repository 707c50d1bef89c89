#include "proxy/tools/simulate/measures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reprise::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double as_good = 0.95;
constexpr Duration steady = seconds(3);

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

}  // namespace

std::size_t Histogram::place_of(std::uint64_t microseconds) {
  const unsigned width = static_cast<unsigned>(std::bit_width(microseconds));
  if (width <= fine_bits + 1) return microseconds;
  const unsigned shift = width - fine_bits - 1;
  return (std::size_t{shift} << fine_bits) + (microseconds >> shift);
}

std::uint64_t Histogram::top_of(std::size_t place) {
  if (place < (std::size_t{2} << fine_bits)) return place;
  const std::size_t shift = (place >> fine_bits) - 1;
  const std::uint64_t first = place - (shift << fine_bits);
  return ((first + 1) << shift) - 1;
}

void Histogram::add(Duration span) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
  const auto added = static_cast<std::uint64_t>(std::max<std::int64_t>(microseconds, 0));
  const std::size_t place = place_of(added);
  microseconds_ += added;
  ++counts_[std::min(place, places - 1)];
  ++count_;
}

Duration Histogram::mean() const {
  return std::chrono::microseconds(count_ == 0 ? 0 : microseconds_ / count_);
}

Duration Histogram::percentile(double of) const {
  if (count_ == 0) return Duration::zero();
  const auto rank = static_cast<std::uint64_t>(std::ceil(of * static_cast<double>(count_)));
  const std::uint64_t wanted = std::clamp<std::uint64_t>(rank, 1, count_);
  std::uint64_t seen = 0;
  std::size_t place = 0;
  while ((seen += counts_[place]) < wanted) ++place;
  return std::chrono::microseconds(top_of(place));
}

double Measures::success_share() const { return share(succeeded, requests); }

double Measures::amplification() const { return share(attempts, requests); }

double Measures::peak_load() const {
  std::uint64_t most = 0;
  for (const Step& one : steps) most = std::max(most, one.attempts);
  return static_cast<double>(most) / std::chrono::duration<double>(step).count();
}

double Measures::lowest_budget() const {
  double lowest = 1;
  for (const Step& one : steps) lowest = std::min(lowest, one.budget);
  return lowest;
}

Duration step_of(Duration duration) {
  constexpr std::int64_t most_steps = 120;
  constexpr std::array<int, 12> widths{100,  200,    250,    500,    1000,   2000,
                                       5000, 10'000, 15'000, 30'000, 60'000, 300'000};
  for (const int width : widths) {
    if (duration <= milliseconds(width) * most_steps) return milliseconds(width);
  }
  const std::int64_t hours = duration / std::chrono::hours(most_steps) + 1;
  return std::chrono::hours(hours);
}

void find_recovery(Measures& measures, Duration trouble_from) {
  if (!measures.trouble_ended) return;
  std::uint64_t came = 0;
  std::uint64_t succeeded = 0;
  const auto before = static_cast<std::size_t>(trouble_from / measures.step);
  for (std::size_t i = 0; i < std::min(before, measures.steps.size()); ++i) {
    came += measures.steps[i].requests;
    succeeded += measures.steps[i].succeeded;
  }
  const double wanted = as_good * (came == 0 ? 1 : share(succeeded, came));
  const auto good_for = static_cast<std::size_t>((steady + measures.step - Duration(1)) / measures.step);
  const Duration ended = *measures.trouble_ended;
  const auto first = static_cast<std::size_t>((ended + measures.step - Duration(1)) / measures.step);
  std::size_t good = 0;
  for (std::size_t i = first; i < measures.steps.size(); ++i) {
    const Step& one = measures.steps[i];
    good = one.requests == 0 || share(one.succeeded, one.requests) >= wanted ? good + 1 : 0;
    if (good < good_for) continue;
    const auto begun = static_cast<Duration::rep>(i + 1 - good_for);
    measures.recovered = std::max(measures.step * begun - ended, Duration::zero());
    return;
  }
}

}  // namespace reprise::tools
