// Writes the attributes of one span in OTLP's JSON form: a list of keys, each with a typed value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::telemetry {

/// Collects the attributes of a span or a resource, in memory that outlives them.
class OtlpAttributes {
 public:
  explicit OtlpAttributes(const json::storage_ptr& memory) : all_(memory) { all_.reserve(usual); }

  /// Ignores an empty text.
  void text(std::string_view key, std::string_view value);
  /// Writes an int64, which is a string in JSON (Protocol Buffers, ProtoJSON Format).
  void whole(std::string_view key, std::int64_t value);
  void flag(std::string_view key, bool value) { add(key, "boolValue", value); }
  void span(std::string_view key, policy::Duration value) { add(key, "doubleValue", in_milliseconds(value)); }
  json::array take() { return std::move(all_); }
  const json::storage_ptr& memory() const { return all_.storage(); }

 private:
  static constexpr std::size_t usual = 24;

  void add(std::string_view key, std::string_view type, const json::value_ref& value);

  json::array all_;
};

}  // namespace reprise::telemetry
