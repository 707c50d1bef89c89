#include "proxy/http/grpc/protobuf.hpp"

#include <limits>

namespace reprise::http {
namespace {

enum WireType : std::uint8_t { wire_varint = 0, wire_fixed64 = 1, wire_bytes = 2, wire_fixed32 = 5 };

constexpr unsigned wire_type_bits = 3;

}  // namespace

std::optional<std::uint64_t> ProtobufReader::take_varint() {
  constexpr unsigned last_shift = 63;  // the tenth byte has room for one bit
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= last_shift && !left_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    if (shift == last_shift && byte > 1) return std::nullopt;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ProtobufReader::take(std::uint64_t count) {
  if (count > left_.size()) return std::nullopt;
  const std::string_view taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

std::optional<std::string_view> ProtobufReader::take_bytes() {
  const std::optional<std::uint64_t> size = take_varint();
  return size ? take(*size) : std::nullopt;
}

std::optional<ProtobufField> ProtobufReader::fail() {
  malformed_ = true;
  left_ = {};
  return std::nullopt;
}

std::optional<ProtobufField> ProtobufReader::next() {
  while (!left_.empty()) {
    const std::optional<std::uint64_t> tag = take_varint();
    if (!tag || *tag > std::numeric_limits<std::uint32_t>::max()) return fail();
    const std::uint64_t number = *tag >> wire_type_bits;
    if (number == 0) return fail();
    switch (*tag & ((1U << wire_type_bits) - 1)) {
      case wire_varint:
        if (const auto value = take_varint()) return ProtobufField{number, *value};
        return fail();
      case wire_bytes:
        if (const auto value = take_bytes()) return ProtobufField{number, *value};
        return fail();
      case wire_fixed64:
        if (!take(sizeof(std::uint64_t))) return fail();
        break;
      case wire_fixed32:
        if (!take(sizeof(std::uint32_t))) return fail();
        break;
      default: return fail();
    }
  }
  return std::nullopt;
}

}  // namespace reprise::http
