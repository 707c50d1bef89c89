// Parses the metrics page of reprise, and sums over labels.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tests/soak/wire.hpp"

namespace reprise::soak {

class Exposition {
 public:
  explicit Exposition(std::string_view text);
  /// Returns the sum of all series with this name.
  double sum(std::string_view name) const;
  /// Returns the sums of the series with this name, by the value of one label.
  std::map<std::string, double> by(std::string_view name, std::string_view label) const;

 private:
  /// Value of each series; key: name and labels, as printed.
  std::map<std::string, double, std::less<>> series_;
};

/// Fetches the metrics from the admin listener. Throws std::runtime_error if there is no response with status
/// 200.
Task<Exposition> fetch_metrics(tcp::endpoint admin);

}  // namespace reprise::soak
