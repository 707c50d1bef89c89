// Plays millions of stories of policy::Exchange (all short stories, and random ones), and judges each by the
// laws.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>

#include "tests/simulation/policy/outage.hpp"
#include "tests/simulation/policy/teller.hpp"

namespace reprise::simulation {
namespace {

struct Options {
  bool all = false;
  bool canary = false;
  std::uint64_t random = 0;
  std::uint64_t seed = 1;
  unsigned threads = 2;
  std::string replay;
  std::string flaw = "none";
  std::string figures;
};

/// Result of a run over many stories.
struct Sum {
  CoverageMarks marks;
  std::uint64_t twice = 0;  ///< stories that were played twice
  std::optional<Broken> broken;
};

/// Plays the stories with the numbers in [first, end) on several threads. Ends soon after the first broken
/// law.
template <typename Tell>
Sum play_all(std::uint64_t first, std::uint64_t end, const Options& options, Flaw flaw, Tell tell) {
  constexpr std::uint64_t share = 1024;
  std::atomic<std::uint64_t> next{first};
  std::atomic<bool> stop{false};
  std::vector<Sum> sums(options.threads);
  std::vector<std::thread> threads;
  for (Sum& sum : sums) {
    threads.emplace_back([&, end] {
      Teller teller(flaw);
      for (std::uint64_t from = next.fetch_add(share); from < end && !stop; from = next.fetch_add(share)) {
        for (std::uint64_t number = from; number < std::min(from + share, end) && !stop; ++number) {
          tell(teller, number);
          if (teller.broken()) stop = true;
        }
      }
      sum = {teller.marks(), teller.twice(), teller.broken()};
    });
  }
  for (std::thread& thread : threads) thread.join();
  Sum all;
  for (const Sum& sum : sums) {
    all.marks.add(sum.marks);
    all.twice += sum.twice;
    const bool earlier = sum.broken && (!all.broken || sum.broken->name < all.broken->name);
    if (earlier) all.broken = sum.broken;
  }
  return all;
}

void tell_enumerated(Teller& teller, std::uint64_t number) { teller.enumerated(number); }
void tell_random(Teller& teller, std::uint64_t number) { teller.random(number); }

std::string commit() {
  const std::string command = "git -C " REPRISE_SOURCE_DIR " rev-parse --short HEAD 2>/dev/null";
  std::string text;
  if (FILE* pipe = popen(command.c_str(), "r"); pipe != nullptr) {
    char line[64];
    if (std::fgets(line, sizeof line, pipe) != nullptr) text = line;
    pclose(pipe);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "unknown" : text;
}

int report(const Broken& broken, Flaw flaw) {
  std::cout << "BROKEN: " << broken.law << "\nstory " << broken.name << " at commit " << commit()
            << "\nreplay: build/release/tests/simulation/policy/policy_stories --replay " << broken.name
            << (flaw == Flaw::none ? "" : " --flaw " + std::string(word(flaw))) << "\n";
  std::cout << tell_in_full(broken.name, flaw);
  return 1;
}

/// Plays random stories with each planted flaw. Every flaw must break a law. Returns the exit status.
int canary(const Options& options) {
  constexpr std::uint64_t within = 20'000;
  int missed = 0;
  for (std::size_t i = 1; i < flaw_words.size(); ++i) {
    const auto flaw = static_cast<Flaw>(i);
    const Sum sum = play_all(options.seed, options.seed + within, options, flaw, tell_random);
    std::cout << word(flaw) << ": " << (sum.broken ? "found: " + std::string(sum.broken->law) : "NOT FOUND")
              << "\n";
    missed += sum.broken ? 0 : 1;
  }
  std::cout << flaw_words.size() - 1 - static_cast<std::size_t>(missed) << " flaws found, " << missed
            << " not\n";
  return missed == 0 ? 0 : 1;
}

/// Plays an outage with refused connections and an outage with 503 responses, with every key at its default.
/// Returns the higher value of each figure, and the requests of both outages together.
OutageFigures worst_outage() {
  const policy::RoutePolicy route;
  const OutageFigures refused = play_outage(route, Away::refuses);
  const OutageFigures busy = play_outage(route, Away::says_503);
  return {std::max(refused.window_percent, busy.window_percent),
          std::max(refused.after_percent, busy.after_percent),
          std::max(refused.recovery_milliseconds, busy.recovery_milliseconds),
          refused.requests + busy.requests};
}

void write_figures(const std::string& path, std::uint64_t enumerated, std::uint64_t random, int broken,
                   const OutageFigures& outage) {
  std::ofstream file(path);
  file << "{\"policy stories enumerated\": " << enumerated << ", \"policy stories random\": " << random
       << ", \"laws broken\": " << broken << ", \"outage load percent\": " << outage.window_percent
       << ", \"load percent after an outage\": " << outage.after_percent
       << ", \"outage recovery milliseconds\": " << outage.recovery_milliseconds << "}\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(const Options& options) {
  const Flaw flaw = flaw_of(options.flaw);
  if (!options.replay.empty()) {
    std::cout << tell_in_full(options.replay, flaw);
    return 0;
  }
  if (options.canary) return canary(options);
  Sum enumerated;
  if (options.all) enumerated = play_all(0, enumerated_count(), options, flaw, tell_enumerated);
  Sum random;
  if (!enumerated.broken) {
    random = play_all(options.seed, options.seed + options.random, options, flaw, tell_random);
  }
  const OutageFigures outage = worst_outage();
  const auto& broken = enumerated.broken ? enumerated.broken : random.broken;
  if (!options.figures.empty()) {
    write_figures(options.figures, enumerated.marks.stories(), random.marks.stories(), broken ? 1 : 0,
                  outage);
  }
  if (broken) return report(*broken, flaw);
  // With fewer random stories than this, coverage marks that no story reached are not reported.
  constexpr std::uint64_t enough = 10'000;
  const std::string missing = options.random >= enough ? random.marks.missing() : "";
  std::cout << random.marks.table() << enumerated.marks.stories() << " stories enumerated, "
            << random.marks.stories() << " random ones from seed " << options.seed << ", "
            << enumerated.twice + random.twice << " played twice; laws broken: 0\n"
            << "an outage of 60 s under 200 requests/s: at most " << outage.window_percent
            << " % of them as attempts in any 10 s, " << outage.after_percent
            << " % in any second after the return, when new ones succeed " << outage.recovery_milliseconds
            << " ms\n";
  if (!missing.empty()) std::cout << "never or hardly reached:\n" << missing;
  return missing.empty() ? 0 : 1;
}

}  // namespace
}  // namespace reprise::simulation

int main(int argc, char** argv) {
  reprise::simulation::Options options;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  CLI::App app("stories of policy::Exchange, judged by the laws");
  app.add_flag("--all", options.all, "every sequence of one to five attempts");
  app.add_option("--random", options.random, "so many random stories");
  app.add_option("--seed", options.seed, "of the first random story; each next one has the next number");
  app.add_option("--replay", options.replay, "one story in full: e<number> of an enumerated one, r<seed>");
  app.add_option("--flaw", options.flaw, "what the exchange is told wrongly");
  app.add_flag("--canary", options.canary, "every flaw must be found");
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  app.add_option("--figures", options.figures, "a JSON file to write the counts to");
  CLI11_PARSE(app, argc, argv);
  try {
    return reprise::simulation::run(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
