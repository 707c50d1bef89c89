// Writes a JSON document and puts the commas between its members.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::telemetry {

/// Appends to a string, which must outlive the writer. The caller pairs the brackets. An empty key is for
/// items of a list.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void open(std::string_view key, char bracket) {
    begin(key);
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    append_json(out_, value);
  }
  void number(std::string_view key, std::uint64_t value) {
    begin(key);
    append_number(out_, value);
  }
  /// Writes a number with six decimals.
  void real(std::string_view key, double value) {
    begin(key);
    fmt::format_to(std::back_inserter(out_), "{:.6f}", value);
  }
  /// Writes milliseconds, or null if absent.
  void span(std::string_view key, std::optional<policy::Duration> value) {
    if (!value) return word(key, "null");
    begin(key);
    append_milliseconds(out_, *value);
  }
  /// Writes `value` unquoted. Precondition: it is `true`, `false` or `null`.
  void word(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
  }

 private:
  void begin(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    if (key.empty()) return;
    append_json(out_, key);
    out_ += ": ";
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace reprise::telemetry
