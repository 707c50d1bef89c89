// JSON documents for people and programs: Boost.JSON values and how they are written as text.
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

/// Appends a value as one line without a line end. Members keep their order, and text is escaped as by
/// `append_json`. Numbers are written without an exponent; a number that is not finite becomes null.
void append_document(std::string& out, const json::value& value);
void append_document(std::string& out, const json::object& document);
/// Returns the text that `append_document` would append.
std::string document_text(const json::object& document);
/// Returns a JSON list with each item on its own line.
std::string document_lines(const json::array& items);

/// Returns the span in milliseconds, with microsecond resolution; 0 if the span is negative.
double in_milliseconds(policy::Duration span);
/// Returns the span in milliseconds as a JSON number; null if it is absent.
json::value milliseconds_or_null(const std::optional<policy::Duration>& span);
/// Rounds `number` to `decimals` decimals. A number that is not finite stays unchanged.
double rounded(double number, int decimals);
/// Returns a JSON list of these texts.
json::array list_of(const std::vector<std::string>& texts);
/// Returns the text as a JSON string; null if it is empty.
json::value or_null(std::string_view text);
/// Returns the value as JSON; null if it is absent.
template <typename Value>
json::value or_null(const std::optional<Value>& value) {
  return value ? json::value(*value) : json::value();
}

}  // namespace telemetry
}  // namespace reprise
