// The draws of a response that HTTP/1 and HTTP/2 share: status, hints, hidden errors, and the part of the
// representation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/simulation/content.hpp"
#include "tests/simulation/response_plan.hpp"

namespace reprise::simulation {

/// Base of the writers of both protocols. A writer draws in the order of the functions below.
class ResponseDraw {
 protected:
  ResponseDraw(Seed seed, Faults& faults, const Account& account, unsigned arrival,
               const std::optional<RangeRequest>& range, bool reused);

  bool plays(Fault kind, std::uint64_t one_in) { return faults_.plays(kind, chance_.one_in(one_in)); }
  bool has_body() const {
    return account_.plan.method != "HEAD" && facts_.status != 204 && facts_.status != 304;
  }
  /// Returns bytes of the body. Offsets count from the start of the representation.
  std::string text(std::uint64_t first, std::uint64_t end) const {
    return error_.empty() ? content_.text(first, end) : std::string(error_.substr(first, end - first));
  }

  /// Draws how much of the request is read, when the response begins, and whether the upstream resets the
  /// connection before the response.
  void draw_departures();
  void draw_status();
  /// Draws which version of the representation is sent, and which part of its bytes.
  void draw_part();

  Chance chance_;
  Faults& faults_;
  const Account& account_;
  const std::optional<RangeRequest>& range_;
  bool reused_;
  Content content_;
  const VersionField version_field_;
  ResponseFacts facts_;
  bool resets_after_request_ = false;
  std::string fields_;  ///< further field lines, each with its CRLF
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t total_lie_ = 0;
  std::uint64_t missing_ = 0;  ///< number of bytes that the head announces but that are not sent
  std::string_view error_;     ///< body that reports an error; empty: a normal body

 private:
  void draw_error();
  void tell_in_body(std::string_view body, std::string_view fields);
};

}  // namespace reprise::simulation
