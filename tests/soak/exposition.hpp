// The /metrics text of reprise, as sums over labels.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tests/soak/wire.hpp"

namespace reprise::soak {

class Exposition {
 public:
  explicit Exposition(std::string_view text);
  /// The sum of all series of that name.
  double sum(std::string_view name) const;
  /// The sums of its series by the value of one label.
  std::map<std::string, double> by(std::string_view name, std::string_view label) const;

 private:
  std::map<std::string, double, std::less<>> series_;  ///< by name and labels, as printed
};

/// Fetched from the admin listener; throws std::runtime_error if it does not answer.
Task<Exposition> fetch_metrics(tcp::endpoint admin);

}  // namespace reprise::soak
