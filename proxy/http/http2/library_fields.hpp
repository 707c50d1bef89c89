// Converts the fields of a header block to the form that libnghttp2 takes.
#pragma once

#include <nghttp2/nghttp2.h>

#include <vector>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// The result refers to the names and values of the block. libnghttp2 copies them when the fields are
/// submitted.
std::vector<nghttp2_nv> pairs_of(const FieldBlock&);

}  // namespace reprise::http
