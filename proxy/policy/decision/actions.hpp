// The actions that an exchange returns after an event. The I/O, the tests and the simulator carry them out.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <variant>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// Start attempt `number`. If `fresh`, use a connection that never carried a request.
struct Start {
  unsigned number = 1;
  bool fresh = false;
};
/// Wait until the given time. Meanwhile read the response at hand to its end, hold it, and report
/// `response_kept`.
struct Wait {
  Instant until{};
};
/// Deliver the response of attempt `number` to the client.
struct Deliver {
  unsigned number = 1;
};
/// Stop attempt `number`: its response is no longer needed.
struct Cancel {
  unsigned number = 1;
};
/// Start attempt `number` on a connection that never carried a request. The attempt requests the missing rest
/// of the delivered body. If its response is a 200 or 206, report `continued`, `uncounted` or `differed`.
struct Resume {
  unsigned number = 1;
};
/// Append the body of the response to attempt `number` to the bytes that the client has.
struct Continue {
  unsigned number = 1;
};
/// Break the client's connection: the client has part of the response, and the rest cannot follow.
struct Cut {};
/// Send an error response that the proxy generates. Either there is no upstream response to deliver, or
/// `out_of_time` requires a 504.
struct Fail {
  bool gateway_timeout = false;  ///< send a 504, because `out_of_time` requires it
  bool close = false;  ///< send no response; end the client's connection as the upstream ended its own
};
/// Send nothing: the client is gone.
struct Leave {};

using Action = std::variant<Start, Wait, Deliver, Cancel, Resume, Continue, Cut, Fail, Leave>;

/// The actions that follow from one event, at most three. Carry them out in order. Only the last action leads
/// to another event; the actions before it are `Cancel`.
class [[nodiscard]] Actions {
 public:
  Actions() = default;
  Actions(Action only) : list_{only, {}}, size_(1) {}  // NOLINT(google-explicit-constructor)
  Actions(Action first, Action second) : list_{first, second}, size_(2) { assert(is_cancel(first)); }
  Actions(Action first, Action second, Action third) : list_{first, second, third}, size_(3) {
    assert(is_cancel(first) && is_cancel(second));
  }
  const Action* begin() const { return list_.data(); }
  const Action* end() const { return list_.data() + size_; }
  std::size_t size() const { return size_; }
  /// Precondition: i < size().
  const Action& operator[](std::size_t i) const {
    assert(i < size_);
    return list_[i];
  }

 private:
  static bool is_cancel(const Action& action) { return std::holds_alternative<Cancel>(action); }

  std::array<Action, 3> list_{};
  std::size_t size_ = 0;
};

}  // namespace reprise::policy
