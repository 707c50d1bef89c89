// What `reprise simulate` prints, in any form: the policies side by side, and what was simulated in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/simulate/measures.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

using policy::Duration;

/// One policy, and what became of it.
struct Compared {
  std::string name;
  std::string sentence;
  Measures measures;
  /// Of a replay: the same where attempts that the log does
  /// not know succeed. `measures` is then the other end.
  std::optional<Measures> hopeful;
};

/// Which log was played, and what of it could be.
struct Replayed {
  std::string file;
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t other_lines = 0;  ///< of ours, but not of a request with attempts
  std::uint64_t bad_lines = 0;    ///< left out, since they were allowed to be
  std::uint64_t as_logged = 0;    ///< ended by the client, or in their body: not judged anew
};

struct Report {
  std::string configuration;  ///< its file, or what stands for it
  Duration duration{};
  std::optional<Model> model;  ///< one of these two
  std::optional<Replayed> replayed;
  std::vector<Compared> compared;
  std::vector<std::string> notes;
};

/// One object, `"version": 1`; times in milliseconds.
std::string to_json(const Report&);

/// `91.20 %` or, of a replay, `91.20 % .. 98.00 %`, the lower one first.
std::string range_text(const Compared&, std::string (*shown)(double), double (Measures::*of)() const);

/// What is simulated, in a few lines without markup: what comes;
/// the upstream; its trouble. Of a replay: the log.
struct Premises {
  std::string what;
  std::string text;
};
std::vector<Premises> premises_of(const Report&);
/// What is to be known of the result besides its numbers.
std::vector<std::string> remarks_on(const Report&);

}  // namespace reprise::tools
