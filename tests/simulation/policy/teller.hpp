// Tells stories by their number, one after another, judges them and keeps the marks.
#pragma once

#include <optional>
#include <string>

#include "tests/simulation/policy/enumerated.hpp"
#include "tests/simulation/policy/host_story.hpp"

namespace reprise::simulation {

/// A story that broke a law: `e` and the number of an enumerated one, or `r` and the seed of a random one.
struct Broken {
  std::string name;
  std::string_view law;
};

/// One for each thread.
class Teller {
 public:
  explicit Teller(Flaw flaw) : flaw_(flaw) {}

  void enumerated(std::uint64_t number);
  void random(std::uint64_t seed);

  const CoverageMarks& marks() const { return marks_; }
  std::uint64_t twice() const { return twice_; }
  /// The first broken law.
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

/// The transcript of a story, and where it breaks a law, that of the shortest one that still breaks it.
/// Throws for a name that is none.
std::string tell_in_full(const std::string& name, Flaw);
/// Throws for a word that is none.
Flaw flaw_of(const std::string& word);

}  // namespace reprise::simulation
