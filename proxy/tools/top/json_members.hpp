// Reads members of a JSON object. A member of another type counts as missing.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/top/text.hpp"

namespace reprise::tools {

/// A view of one JSON object. Does not own the object or the charset. If there is a charset, converts texts
/// with `shown`.
class Members {
 public:
  Members(const boost::json::object& object, const Charset* charset) : object_(&object), charset_(charset) {}

  const boost::json::value* find(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  double number_or_0(std::string_view name) const { return number(name).value_or(0); }
  /// Returns the number in the member `name`, rounded to a whole number. Returns 0 if the member is missing
  /// or negative.
  std::uint64_t count(std::string_view name) const;
  std::optional<std::int64_t> whole(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  std::optional<Members> object(std::string_view name) const;
  /// Returns those items of the array `name` that are objects.
  std::vector<Members> objects(std::string_view name) const;
  /// Returns the name and value of each numeric member of the object `name`.
  std::vector<std::pair<std::string, double>> named_numbers(std::string_view name) const;

 private:
  std::string own(std::string_view text) const;

  const boost::json::object* object_;
  const Charset* charset_;
};

/// Returns the number in the JSON value, or nothing if the value is not a number.
std::optional<double> number_in(const boost::json::value&);
/// Returns the number rounded to a whole number, or 0 if the number is negative.
std::uint64_t count_in(double);

}  // namespace reprise::tools
