// The numbers of the fields are those of google/rpc/status.proto, google/rpc/error_details.proto,
// google/protobuf/any.proto and google/protobuf/duration.proto.
#include "proxy/http/grpc/retry_delay.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "proxy/http/grpc/protobuf.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/retry_hints/hint.hpp"

namespace reprise::http {
namespace {

using policy::Duration;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t details_limit = 16 * 1024;

constexpr bool is_base64(char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '+' || c == '/'; }

/// Decodes base64 (RFC 4648 4) with or without padding. Returns nothing if the text is malformed, or if it
/// has more than `details_limit` bytes when decoded.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::size_t group = 4;
  const bool may_be_padded = text.size() % group == 0;
  for (int i = 0; i < 2 && may_be_padded && text.ends_with('='); ++i) text.remove_suffix(1);
  const std::size_t size = text.size() / group * 3 + text.size() % group * 3 / group;
  if (size > details_limit || text.size() % group == 1) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_base64)) return std::nullopt;
  // EVP_DecodeBlock reads whole groups, and decodes padding as zeros.
  std::string padded(text);
  padded.resize((text.size() + group - 1) / group * group, '=');
  std::string bytes(padded.size() / group * 3, '\0');
  const int decoded =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  if (decoded < 0) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

/// The fields of google.protobuf.Duration.
struct Delay {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

// Reads the fields into `delay`. A message that occurs twice is merged in this way. Returns false if the
// message is malformed.
bool read_delay(std::string_view message, Delay& delay) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (const auto* whole = field->varint(1)) delay.seconds = static_cast<std::int64_t>(*whole);
    if (const auto* fraction = field->varint(2)) delay.nanos = static_cast<std::int32_t>(*fraction);
  }
  return !reader.malformed();
}

/// Returns the retry_delay of a google.rpc.RetryInfo; zero if it is malformed or negative.
Duration delay_of(std::string_view retry_info) {
  constexpr std::int32_t longest_fraction = 999'999'999;
  Delay delay;
  ProtobufReader reader(retry_info);
  while (const auto field = reader.next()) {
    const auto* const message = field->bytes(1);
    if (message != nullptr && !read_delay(*message, delay)) return {};
  }
  if (reader.malformed() || delay.seconds < 0 || delay.nanos < 0 || delay.nanos > longest_fraction) return {};
  if (delay.seconds >= longest_pause / seconds(1)) return longest_pause;
  return seconds(delay.seconds) + nanoseconds(delay.nanos);
}

/// The fields of google.protobuf.Any.
struct Any {
  std::string_view type_url;
  std::string_view value;
};

std::optional<Any> read_any(std::string_view message) {
  Any any;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (const auto* url = field->bytes(1)) any.type_url = *url;
    if (const auto* value = field->bytes(2)) any.value = *value;
  }
  return reader.malformed() ? std::nullopt : std::optional(any);
}

}  // namespace

std::optional<Duration> read_retry_delay(std::string_view details) {
  const std::optional<std::string> status = decode_base64(details);
  if (!status) return std::nullopt;
  Duration longest{};
  ProtobufReader reader(*status);
  while (const auto field = reader.next()) {
    const auto* const detail = field->bytes(3);
    if (detail == nullptr) continue;
    const std::optional<Any> any = read_any(*detail);
    if (!any) return std::nullopt;
    if (any->type_url.ends_with("/google.rpc.RetryInfo")) longest = std::max(longest, delay_of(any->value));
  }
  const bool is_hint = !reader.malformed() && longest > Duration::zero();
  return is_hint ? std::optional(longest) : std::nullopt;
}

}  // namespace reprise::http
