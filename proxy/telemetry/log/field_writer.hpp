// Writes the members of a JSON line. Field names and units come from the table of fields at compile time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/telemetry/log/access_fields.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::telemetry {

/// The bytes `,"name":` of a field.
template <Dialect dialect, Field field>
inline constexpr auto field_opening = [] {
  constexpr std::string_view name = row(field).names[static_cast<std::size_t>(dialect)];
  static_assert(!name.empty(), "this dialect does not have the field");
  std::array<char, name.size() + 4> text{};
  text[0] = ',';
  text[1] = '"';
  std::copy(name.begin(), name.end(), text.begin() + 2);
  text[name.size() + 2] = '"';
  text[name.size() + 3] = ':';
  return text;
}();

/// True if the dialect has this field.
template <Dialect dialect, Field field>
inline constexpr bool has_field = !row(field).names[static_cast<std::size_t>(dialect)].empty();

/// Appends members to an open JSON object. `Out` is a string or a Line.
template <Dialect dialect, typename Out>
class FieldWriter {
 public:
  explicit FieldWriter(Out& out) : out_(out) {}

  /// Opens the JSON object and writes the name of its first member.
  template <Field field>
  void first() {
    constexpr auto& opening = field_opening<dialect, field>;
    out_ += '{';
    out_.append(opening.data() + 1, opening.size() - 1);
  }
  template <Field field>
  void name() {
    constexpr auto& opening = field_opening<dialect, field>;
    out_.append(opening.data(), opening.size());
  }
  /// Writes `value` without escaping it. Precondition: `value` needs no escapes, because it is a word of a
  /// closed list or was made by reprise.
  template <Field field>
  void word(std::string_view value) {
    name<field>();
    out_ += '"';
    out_ += value;
    out_ += '"';
  }
  template <Field field>
  void text(std::string_view value) {
    name<field>();
    append_json(out_, value);
  }
  template <Field field>
  void number(std::uint64_t value) {
    name<field>();
    append_number(out_, value);
  }
  template <Field field>
  void span(policy::Duration value) {
    name<field>();
    if constexpr (row(field).units[static_cast<std::size_t>(dialect)] == "s") {
      append_seconds(out_, value);
    } else {
      append_milliseconds(out_, value);
    }
  }
  template <Field field>
  void flag(bool value) {
    name<field>();
    out_ += value ? "true" : "false";
  }

 private:
  Out& out_;
};

}  // namespace reprise::telemetry
