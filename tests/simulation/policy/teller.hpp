// Plays stories by number, judges them, and counts the coverage marks.
#pragma once

#include <optional>
#include <string>

#include "tests/simulation/policy/enumerated.hpp"
#include "tests/simulation/policy/host_story.hpp"

namespace reprise::simulation {

/// A story that broke a law. Its name is `e` and the number of an enumerated story, or `r` and the seed of a
/// random story.
struct Broken {
  std::string name;
  std::string_view law;
};

/// One per thread.
class Teller {
 public:
  explicit Teller(Flaw flaw) : flaw_(flaw) {}

  void enumerated(std::uint64_t number);
  void random(std::uint64_t seed);

  const CoverageMarks& marks() const { return marks_; }
  std::uint64_t twice() const { return twice_; }
  /// Returns the first broken law; null if all hold.
  const std::optional<Broken>& broken() const { return broken_; }

 private:
  template <typename Again>
  void judge_twice(std::uint64_t number, char kind, const Judged& once, Again again);

  Flaw flaw_;
  CoverageMarks marks_;
  std::uint64_t twice_ = 0;
  std::optional<Broken> broken_;
  LoneStory lone_;
  HostStory host_;
};

/// Returns the transcript of a story. If the story breaks a law (invariant), adds the transcript of the
/// simplest version found of this story that breaks the same law. Throws std::invalid_argument if no story
/// has that name.
std::string tell_in_full(const std::string& name, Flaw);
/// Returns the flaw with that name. Throws std::invalid_argument if there is none.
Flaw flaw_of(const std::string& word);

}  // namespace reprise::simulation
