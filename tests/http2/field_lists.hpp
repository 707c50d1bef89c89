// For tests of header blocks: lists of fields, to write and to compare.
#pragma once

#include <string>
#include <vector>

#include "proxy/http/http2/field.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::http {

using play::FieldList;
using Lines = std::vector<std::string>;

inline FieldList operator+(FieldList fields, const FieldList& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

/// Returns each field as `name=value`, and marks sensitive fields.
inline Lines lines_of(const FieldBlock& block) {
  Lines lines;
  for (const Field& field : block.fields)
    lines.push_back(std::string(field.name) + "=" + std::string(field.value) +
                    (field.sensitive ? " (sensitive)" : ""));
  return lines;
}

}  // namespace reprise::http
