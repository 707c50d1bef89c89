// The response of an upstream to one arrival of a request, drawn from the seed: bytes, timing, and how the
// connection ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/simulation/book.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// What the upstream does with the connection after the last byte.
enum class After : std::uint8_t { keep, finish, reset, fall_silent };

/// The parts of a plan that do not depend on the protocol.
struct ResponseFacts {
  Duration wait{};                      ///< wait before the first byte
  Duration pause{};                     ///< pause before the second piece; halved for each later piece
  bool early = false;                   ///< the response is sent as soon as the request's head has arrived
  bool commits = true;                  ///< the request may take effect
  std::uint64_t commit_at = 1;          ///< number of request bytes at which the request takes effect
  std::optional<std::uint64_t> resets;  ///< number of request bytes after which the upstream resets
  bool unread = false;                  ///< only the head of the request is read
  std::optional<Duration> idles_for;    ///< idle time after the response, then FIN
  bool vanishes = false;                ///< after the response, the connection dies without notice
  bool speaks_idly = false;             ///< after `idles_for`, sends unsolicited bytes before the FIN
  unsigned version = 0;
  int status = 200;
  Tells tells = Tells::nothing;
};

struct ResponsePlan : ResponseFacts {
  std::string bytes;
  std::size_t surplus = 0;  ///< bytes after the end of the message
  After after = After::keep;
};

/// Bodies of responses that report an error in the body. The field X-Body names the format: json or xml.
inline constexpr std::string_view error_json =
    R"({"error":{"code":7},"told":"a body that says that it is none"})";
inline constexpr std::string_view error_xml =
    "<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code><Told>so does this one</Told></Error>";

/// The part of a representation that a resume requests.
struct RangeRequest {
  std::uint64_t first = 0;
  /// Version that If-Range names. Without If-Range, the version of the last response with content. 0 if
  /// If-Range names no version of this upstream, or if no response had content.
  unsigned version = 0;
  bool conditional = false;  ///< has If-Range
};

/// Field in which the upstream names the version of a representation.
enum class VersionField : std::uint8_t { entity_tag, generation, version_id };
/// Returns the version field of all responses to the request with this id.
VersionField version_field(Seed seed, std::uint64_t id);
/// Returns the complete header line, with CRLF.
std::string version_line(VersionField field, unsigned version);

/// Draws the response to one arrival. `arrival` counts from 1. `reused` is true if the connection carried
/// another request before.
ResponsePlan plan_response(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                           const std::optional<RangeRequest>& range, bool reused);

}  // namespace reprise::simulation
