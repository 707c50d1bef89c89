// Reads the fields of a message in the protobuf wire format, one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace reprise::http {

struct ProtobufField {
  std::uint64_t number = 0;
  std::variant<std::uint64_t, std::string_view> value;  ///< a varint, or length-delimited bytes

  /// Return the value of the field with the number `wanted`. Null if this is another field, or if its value
  /// has another type.
  const std::uint64_t* varint(std::uint64_t wanted) const {
    return number == wanted ? std::get_if<std::uint64_t>(&value) : nullptr;
  }
  const std::string_view* bytes(std::uint64_t wanted) const {
    return number == wanted ? std::get_if<std::string_view>(&value) : nullptr;
  }
};

/// Reads one message, without copying and without looking into its nested messages. libprotobuf is not used,
/// because it would bring a dependency and generated code for four small nested messages.
class ProtobufReader {
 public:
  /// Precondition: the bytes outlive the reader.
  explicit ProtobufReader(std::string_view message) : left_(message) {}

  /// Returns the next field whose value is a varint or bytes; fields of fixed width are skipped. Returns
  /// nothing at the end of the message, and from the first malformed field on. Groups are malformed.
  std::optional<ProtobufField> next();
  bool malformed() const { return malformed_; }

 private:
  std::optional<std::uint64_t> take_varint();
  std::optional<std::string_view> take(std::uint64_t count);
  /// Takes a length and as many bytes.
  std::optional<std::string_view> take_bytes();
  std::optional<ProtobufField> fail();

  std::string_view left_;
  bool malformed_ = false;
};

}  // namespace reprise::http
