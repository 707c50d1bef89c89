// Members of a JSON object that may be missing or of another type, which is the same here.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/top/text.hpp"

namespace reprise::tools {

/// A view of one object; `charset` as read_status has it. Neither is owned.
class Members {
 public:
  Members(const boost::json::object& object, const Charset* charset) : object_(&object), charset_(charset) {}

  const boost::json::value* find(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  double number_or_0(std::string_view name) const { return number(name).value_or(0); }
  /// A whole number from 0 on.
  std::uint64_t count(std::string_view name) const;
  std::optional<std::int64_t> whole(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  std::optional<Members> object(std::string_view name) const;
  /// Of an array, those that are objects.
  std::vector<Members> objects(std::string_view name) const;
  /// Each member of an object that is a number, with its name.
  std::vector<std::pair<std::string, double>> named_numbers(std::string_view name) const;

 private:
  std::string own(std::string_view text) const;

  const boost::json::object* object_;
  const Charset* charset_;
};

/// Absent for what is no number.
std::optional<double> number_in(const boost::json::value&);
/// Nearest whole number from 0 on.
std::uint64_t count_in(double);

}  // namespace reprise::tools
