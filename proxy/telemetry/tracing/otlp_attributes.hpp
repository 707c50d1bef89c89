// Writes the attributes of one span in OTLP's JSON form: a list of keys, each with a typed value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::telemetry {

/// Writes `"attributes":[...]`: the constructor begins the list and `close` ends it. All keys are literals of
/// this program.
class OtlpAttributes {
 public:
  explicit OtlpAttributes(std::string& out);

  /// Adds a text. Adds nothing if the text is empty.
  void text(std::string_view key, std::string_view value);
  /// Adds an int64, which is a string in JSON (Protocol Buffers, ProtoJSON Format).
  void whole(std::string_view key, std::int64_t value);
  void flag(std::string_view key, bool value);
  void milliseconds(std::string_view key, policy::Duration value);
  void close();

 private:
  void name(std::string_view key, std::string_view type);

  std::string& out_;
  bool first_ = true;
};

}  // namespace reprise::telemetry
