// A range of response statuses, such as 400, 500-599 or 4xx.
#pragma once

namespace reprise::policy {

/// HTTP defines 100 to 599 (RFC 9110 15), but an HTTP/1 upstream may send any three digits (row N21).
inline constexpr int highest_status = 999;

/// A range of statuses; both ends are included.
struct StatusRange {
  int first = 200;
  int last = 599;

  bool has(int status) const { return first <= status && status <= last; }
  bool operator==(const StatusRange&) const = default;
};

}  // namespace reprise::policy
