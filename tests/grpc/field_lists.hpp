// Writes fields in both forms in which the room `grpc` reads them: the fields of a head, and trailer lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Precondition: the values outlive the fields.
inline std::vector<FieldLine> head_fields(const NamedValues& values) {
  std::vector<FieldLine> fields;
  for (const auto& [name, value] : values) fields.push_back({name, value, {}, FieldId::other});
  return fields;
}

inline std::string trailer_lines(const NamedValues& values) {
  std::string lines;
  for (const auto& [name, value] : values) lines += name + ": " + value + "\r\n";
  return lines;
}

}  // namespace reprise::http
