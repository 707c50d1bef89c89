#include "proxy/policy/decision/reason.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

/// The effect of a reason on the request.
enum class Course {
  again,  // the request is sent again
  ends,   // the request ends
  limit,  // the request would have been sent again, but a limit is reached
};

struct Row {
  std::string_view word;
  Course course;
  Unattempted unattempted;
  std::string_view meaning;
};

#define REPRISE_ROW(name, course, unattempted, meaning) \
  Row{#name, Course::course, Unattempted::unattempted, meaning},

constexpr std::array<Row, reason_count> rows{REPRISE_REASONS(REPRISE_ROW)};

#undef REPRISE_ROW

static_assert(std::none_of(rows.begin(), rows.end(), [](const Row& each) { return each.meaning.empty(); }));

constexpr const Row& row(Reason reason) { return rows[static_cast<std::size_t>(reason)]; }

}  // namespace

std::string_view word(Reason reason) { return row(reason).word; }
std::string_view meaning(Reason reason) { return row(reason).meaning; }
bool is_retry(Reason reason) { return row(reason).course == Course::again; }
bool is_exhausted(Reason reason) { return row(reason).course == Course::limit; }
Unattempted unattempted(Reason reason) { return row(reason).unattempted; }

}  // namespace reprise::policy
