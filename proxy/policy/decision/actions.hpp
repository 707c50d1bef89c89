// What an exchange asks for after an event: the actions that sockets, tests and the simulator obey.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <variant>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// Begin attempt `number`; on a connection that never carried a request, if `fresh`.
struct Start {
  unsigned number = 1;
  bool fresh = false;
};
/// Sleep until then. While sleeping, read the response at
/// hand into the kept response and report `response_kept`.
struct Wait {
  Instant until{};
};
/// Give the client the response of that attempt.
struct Deliver {
  unsigned number = 1;
};
/// Stop that attempt: nobody wants its response.
struct Cancel {
  unsigned number = 1;
};
/// Begin attempt `number`, on a connection that never carried a request: it asks for what is missing of the
/// delivered response's body. Report `continued`, `uncounted` or `differed` where its status is 200 or 206.
struct Resume {
  unsigned number = 1;
};
/// Append the body of that attempt's response to what the client has.
struct Continue {
  unsigned number = 1;
};
/// Break the client's connection: part of the response is out and the rest cannot follow.
struct Cut {};
/// Respond in our own words: there is no upstream response to give, or the deadline asks for a 504.
struct Fail {
  bool gateway_timeout = false;  ///< out_of_time: 504
  bool close = false;            ///< no response: the client's connection ends as the upstream's did
};
/// The client is gone: there is nobody to respond to.
struct Leave {};

using Action = std::variant<Start, Wait, Deliver, Cancel, Resume, Continue, Cut, Fail, Leave>;

/// What one event asks for: to be obeyed one by one, in order; never more than three. Only the last one leads
/// to another event; what comes before it is `Cancel`.
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
  /// Only below size().
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
