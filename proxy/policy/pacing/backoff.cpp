#include "proxy/policy/pacing/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::policy {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t additive_milliseconds = 1000;

// Uses floating point, so that a large `n` gives the maximum and not an overflow.
Duration exponential(const Backoff& backoff, unsigned n) {
  // Without this check, 0 * infinity would give NaN for a large `n`.
  if (backoff.initial == Duration::zero()) return Duration::zero();
  const double grown =
      static_cast<double>(backoff.initial.count()) * std::pow(backoff.multiplier, static_cast<double>(n));
  if (!(grown < static_cast<double>(backoff.maximum.count()))) return backoff.maximum;
  return Duration(std::llround(grown));
}

Duration between(Duration lowest, Duration highest, Dice& dice) {
  const auto span = static_cast<std::uint64_t>((highest - lowest).count());
  return lowest + Duration(static_cast<Duration::rep>(dice.roll(span)));
}

// Returns the highest wait that can be drawn, before the maximum is applied.
Duration decorrelated_top(const Backoff& backoff, Duration previous) {
  // Before the first retry there is no previous wait. The range is then derived from the initial wait.
  if (previous == Duration::zero()) previous = backoff.initial;
  const Duration tripled = previous > Duration::max() / 3 ? Duration::max() : previous * 3;
  return std::max(tripled, backoff.initial);
}

}  // namespace

WaitRange wait_range(const Backoff& backoff, unsigned n, Duration previous) {
  const Duration d = exponential(backoff, n);
  switch (backoff.jitter) {
    case Jitter::none: return {d, d};
    case Jitter::full: return {Duration::zero(), d};
    case Jitter::equal:
      return {Duration(static_cast<Duration::rep>(static_cast<double>(d.count()) * backoff.lowest)), d};
    case Jitter::additive:
      return {d, std::min(backoff.maximum, d + Duration(milliseconds(additive_milliseconds)))};
    case Jitter::decorrelated: break;
  }
  return {std::min(backoff.initial, backoff.maximum),
          std::min(backoff.maximum, decorrelated_top(backoff, previous))};
}

Duration draw_wait(const Backoff& backoff, unsigned n, Duration previous, Dice& dice) {
  if (backoff.jitter == Jitter::additive) {
    const auto extra = milliseconds(static_cast<milliseconds::rep>(dice.roll(additive_milliseconds)));
    return std::min(backoff.maximum, exponential(backoff, n) + Duration(extra));
  }
  const WaitRange range = wait_range(backoff, n, previous);
  // The maximum applies to the drawn value, not to the range: near the maximum, most draws give exactly the
  // maximum (row L19).
  if (backoff.jitter == Jitter::decorrelated && range.lowest < backoff.maximum) {
    const Duration drawn = between(backoff.initial, decorrelated_top(backoff, previous), dice);
    return std::min(backoff.maximum, drawn);
  }
  return range.lowest == range.highest ? range.lowest : between(range.lowest, range.highest, dice);
}

}  // namespace reprise::policy
