// What in a response makes it worth another attempt although
// its status does not: a value in its body, or a header field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/status_range.hpp"
#include "proxy/policy/match/text_rule.hpp"

namespace reprise::policy {

/// One item of `hold.body`: everything that it names must hold. It names one of `json`, `xml` and `header`,
/// or `event`, or `event` and `json`.
struct BodyPredicate {
  std::string event = {};   ///< name of the first event of an event stream; empty: any body
  std::string json = {};    ///< dotted path into a JSON object; empty: nothing is looked up
  TextRule value = {};      ///< of the value there, at `xml`, or of the field
  std::string xml = {};     ///< an element's name, or names with dots between; empty: nothing is looked up
  std::string header = {};  ///< a field's name; empty: the body is looked into
  std::optional<StatusRange> status = {};  ///< absent: any
  bool refused = false;  ///< such a response says that nothing was done, like `retry.refused`

  bool operator==(const BodyPredicate&) const = default;
};

/// The fields of a response's head, as whoever parsed it can answer.
class HeadView {
 public:
  /// True if the value of a field of that name (case-insensitive),
  /// without blanks around it, is as the rule says.
  virtual bool has(std::string_view name, const TextRule&) const = 0;

 protected:
  ~HeadView() = default;
};

/// What was held of a response's body, as whoever parsed it can answer.
class BodyView {
 public:
  /// Name of the first event, `message` where the stream does not name it; empty: there is none.
  virtual std::string_view event() const = 0;
  /// True if the string, number or boolean at that path is as the rule says, or, where the rule reads no
  /// text, any value there is neither null nor empty. In an event stream the data of the first event is
  /// looked into, else the whole body.
  virtual bool has_json(std::string_view path, const TextRule&) const = 0;
  /// True if the text of the first such element is as the rule says.
  virtual bool has_xml(std::string_view path, const TextRule&) const = 0;

 protected:
  ~BodyView() = default;
};

/// True if it is about responses of that status.
bool concerns(const BodyPredicate&, int status);
/// The first matching predicate of those that need no body; null if none matches.
const BodyPredicate* match_head(const std::vector<BodyPredicate>&, int status, const HeadView&);
/// The first matching predicate of those that look into a body; null if none matches.
const BodyPredicate* match_body(const std::vector<BodyPredicate>&, int status, const BodyView&);

/// `status: 400, json: __type, matches: "*Throttling*"`, for `explain`.
std::string describe(const BodyPredicate&);
/// `400`, `4xx` or `400-403`: what parses to it.
std::string describe(const StatusRange&);

}  // namespace reprise::policy
