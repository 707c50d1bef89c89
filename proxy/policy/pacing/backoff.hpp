// How long to wait before the next attempt: the five kinds of jitter over one exponential.
#pragma once

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

enum class Jitter : std::uint8_t { none, full, equal, additive, decorrelated };

/// d(n) = min(initial * multiplier^n, maximum), n = 0 for the first retry.
struct Backoff {
  Duration initial = std::chrono::milliseconds(250);
  double multiplier = 2;  ///< >= 1
  Duration maximum = std::chrono::seconds(8);
  Jitter jitter = Jitter::equal;
};

/// The lowest and highest wait that the dice can give.
struct WaitRange {
  Duration lowest{};
  Duration highest{};
};

/// `previous` is the wait before the last attempt; only
/// `decorrelated` looks at it. Never overflows, at any n.
WaitRange wait_range(const Backoff&, unsigned n, Duration previous);

/// One wait, drawn anew at each call (clause R14). `additive` adds a whole number of milliseconds, 0 to 1000
/// (clause R13), and caps the sum (clause R15); the other kinds stay jittered at the cap.
Duration draw_wait(const Backoff&, unsigned n, Duration previous, Dice&);

}  // namespace reprise::policy
