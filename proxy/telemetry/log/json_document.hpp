// JSON documents that people and programs read: values of Boost.JSON, and their text.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise {

namespace json = boost::json;

namespace telemetry {

/// Appends a value as one line without its end. Members keep their order, and text is escaped as by
/// `append_json`. A number has no exponent, and is null if it is not finite.
void append_document(std::string& out, const json::value& value);
void append_document(std::string& out, const json::object& document);
/// Returns what `append_document` appends.
std::string document_text(const json::object& document);
/// Returns a list with one item on each line.
std::string document_lines(const json::array& items);

/// Returns milliseconds, to the microsecond; 0 if the span is negative.
double in_milliseconds(policy::Duration span);
/// Returns null if there is no span.
json::value milliseconds_or_null(const std::optional<policy::Duration>& span);
/// Returns the number that is read from the text with so many decimals.
double rounded(double number, int decimals);
/// Returns a list of these texts.
json::array list_of(const std::vector<std::string>& texts);
/// Returns null if the text is empty.
json::value or_null(std::string_view text);
/// Returns null if there is no value.
template <typename Value>
json::value or_null(const std::optional<Value>& value) {
  return value ? json::value(*value) : json::value();
}

}  // namespace telemetry
}  // namespace reprise
