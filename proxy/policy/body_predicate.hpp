// What in the body of an answer makes it worth another attempt although its status does not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::policy {

/// One item of `hold.body`: everything that it names must hold. At least one of `event` and `json` is there.
struct BodyPredicate {
  std::string event;  ///< name of the first event of an event stream; empty: any body
  std::string json;   ///< dotted path into a JSON object; empty: nothing is looked up
  std::optional<std::string>
      equals;  ///< the text of the string, number or boolean there; absent: not null, not empty

  bool operator==(const BodyPredicate&) const = default;
};

/// What was held of an answer's body, as whoever parsed it can answer.
class BodyView {
 public:
  /// Name of the first event, `message` where the stream does not name it; empty: there is none.
  virtual std::string_view event() const = 0;
  /// True if the value at that path has the text `equals`, or, without one, is neither null nor empty. In an
  /// event stream the data of the first event is looked into, else the whole body.
  virtual bool has(std::string_view path, const std::optional<std::string>& equals) const = 0;

 protected:
  ~BodyView() = default;
};

bool matches(const BodyPredicate&, const BodyView&);
/// True if any of them matches.
bool matches(const std::vector<BodyPredicate>&, const BodyView&);

/// `json: error.type, equals: overloaded_error`, for `explain`.
std::string describe(const BodyPredicate&);

}  // namespace reprise::policy
