// Executes the actions of several requests to one host on a virtual clock, and has the laws judge each event.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/policy/coverage_marks.hpp"
#include "tests/simulation/policy/host_laws.hpp"
#include "tests/simulation/policy/judged.hpp"

namespace reprise::simulation {

/// Plays one story, once. Timers are never cancelled, so the exchanges must ignore the timers of waits that
/// have ended.
class HostWorld {
 public:
  /// `told` is the story for the exchanges, `judged` is the story for the laws. They differ only if a flaw is
  /// planted. `marks` and `tale` may be null; `tale` gets one line per event.
  HostWorld(const HostStory& judged, const HostStory& told, policy::Dice&, CoverageMarks* marks,
            std::string* tale);

  Judged run();

 private:
  struct Coming {
    Happening::Kind kind;
    Instant at{};
    std::uint64_t order = 0;
    std::size_t visitor = 0;
    unsigned number = 0;  ///< number of the attempt; if `kind` is wait_ended, number of the wait
    play::Interruption interruption = play::Interruption::none;
  };
  struct Visitor {
    Visitor(const HostStory& judged, const HostStory& told, std::size_t index, policy::HostShare,
            policy::ObservedLatency*);
    const Visit& visit;  ///< the visit as the exchange sees it
    policy::Exchange exchange;
    VisitLaws laws;
    unsigned begun = 0;
    std::vector<bool> fresh;    ///< for each attempt: true if it used a new connection
    std::vector<bool> resumes;  ///< for each attempt: true if it resumes a download
    unsigned responded = 0;     ///< number of the last attempt that got a response, not counting resumes
    bool kept = false;
    unsigned waits = 0;
    bool waiting = false;
    const play::Step& step(unsigned number) const;
    /// Called before a wait. Keeps or drops the last response, as the attempt's step in the script says.
    void keep();
  };

  void come(Happening::Kind, Instant at, std::size_t visitor, unsigned number,
            play::Interruption = play::Interruption::none);
  Coming take_next();
  void happen(const Coming&);
  Happening describe(const Coming&, const Visitor&) const;
  policy::Actions tell(const Coming&, const Happening&, Visitor&);
  policy::Actions end_attempt(const Coming&, const Happening&, Visitor&);
  policy::Actions end_body(const Happening&, Visitor&);
  void obey(const policy::Actions&, const Coming&);
  void obey(const policy::Start& start, std::size_t visitor);
  void obey(const policy::Resume& resume, std::size_t visitor);
  void obey(const policy::Wait& wait, std::size_t visitor) { begin_wait(wait.until, visitor); }
  void obey(const policy::Deliver& deliver, std::size_t visitor) { relay(deliver.number, visitor); }
  void obey(const policy::Continue& more, std::size_t visitor) { relay(more.number, visitor); }
  // The actions Cancel, Cut, Fail and Leave need no work here. A cancelled attempt still has events, which
  // the exchange must ignore.
  static void obey(const policy::Cancel&, std::size_t) {}
  static void obey(const policy::Cut&, std::size_t) {}
  static void obey(const policy::Fail&, std::size_t) {}
  static void obey(const policy::Leave&, std::size_t) {}
  void begin_attempt(unsigned number, bool fresh, bool resume, std::size_t visitor);
  void begin_wait(Instant until, std::size_t visitor);
  void relay(unsigned number, std::size_t visitor);
  void write(const Happening&, const policy::Actions&, const Coming&);
  void note_ends() const;
  std::string_view first_broken() const;

  policy::Dice& dice_;
  CoverageMarks* marks_;
  std::string* tale_;
  std::optional<policy::Budget> budget_;
  std::optional<policy::Circuit> circuit_;
  policy::HostPause pause_;
  std::optional<policy::ObservedLatency> latency_;
  std::vector<std::unique_ptr<Visitor>> visitors_;
  HostLaws laws_;
  std::vector<Coming> coming_;
  std::uint64_t order_ = 0;
  Instant now_;
  EventHash hash_;
};

}  // namespace reprise::simulation
