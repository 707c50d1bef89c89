// What an upstream gives to one arrival of a request, drawn from the seed: bytes, their end, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/simulation/book.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// What the connection does once the bytes are out.
enum class After : std::uint8_t { keep, finish, reset, fall_silent };

struct ResponsePlan {
  std::string bytes;
  std::size_t surplus = 0;  ///< bytes behind the end of the message
  After after = After::keep;
  Duration wait{};                      ///< before the first byte
  Duration pause{};                     ///< before the second piece; each later one is half as long
  bool early = false;                   ///< given as soon as the request's head is there
  bool commits = true;                  ///< the request may take effect
  std::uint64_t commit_at = 1;          ///< the byte of the request with which it does
  std::optional<std::uint64_t> resets;  ///< after so many bytes of the request
  bool unread = false;                  ///< the request is not read beyond its head
  std::optional<Duration> idles_for;    ///< then FIN
  bool vanishes = false;                ///< then the connection is dead, and nobody is told
  bool speaks_idly = false;             ///< then bytes that nobody asked for, before the FIN
  unsigned version = 0;
  int status = 200;
  Tells tells = Tells::nothing;
};

/// What a response consists of that tells of an error in its body: as X-Body says, json or xml.
inline constexpr std::string_view error_json =
    R"({"error":{"code":7},"told":"a body that says that it is none"})";
inline constexpr std::string_view error_xml =
    "<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code><Told>so does this one</Told></Error>";

/// The part of a representation that a request asks to go on with.
struct RangeRequest {
  std::uint64_t first = 0;
  unsigned version = 0;      ///< by its If-Range, or the one given last; 0: none that we gave
  bool conditional = false;  ///< has If-Range
};

/// The field by which the upstream names the versions of a representation.
enum class VersionField : std::uint8_t { entity_tag, generation, version_id };
/// Of all responses to the request with that number.
VersionField version_field(Seed seed, std::uint64_t id);
/// The whole line, with CRLF.
std::string version_line(VersionField field, unsigned version);

/// `arrival` from 1; `request_bytes` is the length of the whole request; `reused` if its connection has
/// carried another before.
ResponsePlan plan_response(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                           const std::optional<RangeRequest>& range, bool reused);

}  // namespace reprise::simulation
