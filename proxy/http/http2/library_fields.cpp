#include "proxy/http/http2/library_fields.hpp"

namespace reprise::http {
namespace {

nghttp2_nv pair_of(const Field& field) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  const auto flags =
      static_cast<std::uint8_t>(field.sensitive ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE);
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags};
}

}  // namespace

std::vector<nghttp2_nv> pairs_of(const FieldBlock& block) {
  std::vector<nghttp2_nv> pairs;
  pairs.reserve(block.fields.size());
  for (const Field& field : block.fields) pairs.push_back(pair_of(field));
  return pairs;
}

}  // namespace reprise::http
