// Predicates on a value in a response's body or on a header field; they can make the response retryable even
// if `retry.on` does not list its status.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/status_range.hpp"
#include "proxy/policy/match/text_rule.hpp"

namespace reprise::policy {

/// One item of `hold.body`; all members that are set must match. Exactly one of these is set: `json`, `xml`,
/// `header`, `event`, or `event` with `json`.
struct BodyPredicate {
  std::string event = {};   ///< name of the first event of an event stream; empty for any body
  std::string json = {};    ///< dotted path into a JSON object; empty if unused
  TextRule value = {};      ///< rule for the value at `json` or `xml`, or for the value of the field `header`
  std::string xml = {};     ///< name of an element, or names separated by dots; empty if unused
  std::string header = {};  ///< name of a field; empty if the body is checked instead
  std::optional<StatusRange> status = {};  ///< statuses that this item applies to; absent for any status
  bool refused = false;  ///< the response means that the upstream did nothing, as with `retry.refused`

  bool operator==(const BodyPredicate&) const = default;
};

/// Access to the fields of a response head. The message parser implements it.
class HeadView {
 public:
  /// Returns true if a field of that name (case-insensitive) has a value that meets the rule. Blanks around
  /// the value are ignored.
  virtual bool has(std::string_view name, const TextRule&) const = 0;

 protected:
  ~HeadView() = default;
};

/// Access to the held part of a response body. The body parser implements it.
class BodyView {
 public:
  /// Returns the name of the first event: `message` if the stream does not name it, empty if there is no
  /// event.
  virtual std::string_view event() const = 0;
  /// Returns true if the string, number or boolean at that path meets the rule. A rule without `equals` and
  /// `matches` is met by every value except null and an empty string. In an event stream, reads the data of
  /// the first event; otherwise reads the whole body.
  virtual bool has_json(std::string_view path, const TextRule&) const = 0;
  /// Returns true if the text of the first element at that path meets the rule.
  virtual bool has_xml(std::string_view path, const TextRule&) const = 0;

 protected:
  ~BodyView() = default;
};

/// Returns true if the predicate applies to responses with that status.
bool concerns(const BodyPredicate&, int status);
/// Returns the first matching predicate among those that read only the head. Null if none matches.
const BodyPredicate* match_head(const std::vector<BodyPredicate>&, int status, const HeadView&);
/// Returns the first matching predicate among those that read the body. Null if none matches.
const BodyPredicate* match_body(const std::vector<BodyPredicate>&, int status, const BodyView&);

/// Returns the predicate as text for `explain`: `status: 400, json: __type, matches: "*Throttling*"`.
std::string describe(const BodyPredicate&);
/// Returns the range as it is written in a configuration: `400`, `4xx` or `400-403`.
std::string describe(const StatusRange&);

}  // namespace reprise::policy
