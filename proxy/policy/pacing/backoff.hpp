// The wait before a retry: exponential growth up to a maximum, with five kinds of jitter.
#pragma once

#include "proxy/policy/pacing/dice.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

enum class Jitter : std::uint8_t { none, full, equal, additive, decorrelated };

/// The wait before jitter is d(n) = min(initial * multiplier^n, maximum), with n = 0 for the first retry.
struct Backoff {
  Duration initial = std::chrono::milliseconds(250);
  double multiplier = 2;  ///< >= 1
  Duration maximum = std::chrono::seconds(8);
  Jitter jitter = Jitter::equal;
  double lowest = 0.5;  ///< `equal` draws from this fraction of d to d; only simulated gRPC clients change it
};

/// The lowest and the highest wait that a draw can give.
struct WaitRange {
  Duration lowest{};
  Duration highest{};
};

/// Returns the range of the wait before retry `n`, for any `n` without overflow. `previous` is the wait
/// before the last attempt; only `decorrelated` uses it.
WaitRange wait_range(const Backoff&, unsigned n, Duration previous);

/// Draws one wait; each call draws again (clause R14). `additive` adds 0 to 1000 whole milliseconds (clause
/// R13) and caps the sum at the maximum (clause R15). The other kinds of jitter also vary a wait that has
/// reached the maximum.
Duration draw_wait(const Backoff&, unsigned n, Duration previous, Dice&);

}  // namespace reprise::policy
