// A run of response statuses, such as 400, 500-599 or 4xx.
#pragma once

namespace reprise::policy {

/// Inclusive.
struct StatusRange {
  int first = 200;
  int last = 599;

  bool has(int status) const { return first <= status && status <= last; }
  bool operator==(const StatusRange&) const = default;
};

}  // namespace reprise::policy
