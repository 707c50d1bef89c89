#include "proxy/telemetry/log/json_document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::telemetry {
namespace {

// The smallest number above 0 has the longest text: 326 characters without an exponent.
using Digits = std::array<char, 400>;

// Writes JSON itself, because json::serialize writes 3E1 for 30 and passes on bytes that are not UTF-8.
class DocumentWriter {
 public:
  explicit DocumentWriter(std::string& out) : out_(out) {}

  void operator()(std::nullptr_t) { out_ += "null"; }
  void operator()(bool flag) { out_ += flag ? "true" : "false"; }
  void operator()(std::int64_t number) { append_number(out_, number); }
  void operator()(std::uint64_t number) { append_number(out_, number); }
  void operator()(double number) {
    if (!std::isfinite(number)) return (*this)(nullptr);
    Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    out_.append(digits.data(),
                std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed).ptr);
  }
  void operator()(const json::string& text) { append_json(out_, text); }
  void operator()(const json::array& items) {
    out_ += '[';
    for (const json::value& item : items) {
      if (&item != items.begin()) out_ += ',';
      json::visit(*this, item);
    }
    out_ += ']';
  }
  void operator()(const json::object& members) {
    out_ += '{';
    for (const json::key_value_pair& member : members) {
      if (&member != members.begin()) out_ += ',';
      append_json(out_, member.key());
      out_ += ':';
      json::visit(*this, member.value());
    }
    out_ += '}';
  }

 private:
  std::string& out_;
};

}  // namespace

void append_document(std::string& out, const json::value& value) { json::visit(DocumentWriter(out), value); }

void append_document(std::string& out, const json::object& document) { DocumentWriter{out}(document); }

std::string document_text(const json::object& document) {
  std::string out;
  append_document(out, document);
  return out;
}

std::string document_lines(const json::array& items) {
  std::string out = "[";
  for (const json::value& item : items) {
    out += &item == items.begin() ? "\n" : ",\n";
    append_document(out, item);
  }
  return out += items.empty() ? "]\n" : "\n]\n";
}

double in_milliseconds(policy::Duration span) {
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
  return static_cast<double>(std::max<std::int64_t>(0, whole)) / 1000;
}

json::value milliseconds_or_null(const std::optional<policy::Duration>& span) {
  return span ? json::value(in_milliseconds(*span)) : json::value();
}

double rounded(double number, int decimals) {
  if (!std::isfinite(number)) return number;
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const auto end =
      std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed, decimals).ptr;
  std::from_chars(digits.begin(), end, number);
  return number;
}

json::array list_of(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

json::value or_null(std::string_view text) { return text.empty() ? json::value() : json::value(text); }

}  // namespace reprise::telemetry
