// Plays stories from seeds, counts what they reached, and prints how to replay a failing story.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "tests/simulation/story.hpp"

namespace reprise::simulation {
namespace {

struct Options {
  std::uint64_t stories = 10'000;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::vector<std::uint32_t> left_out;
  Canary canary = Canary::none;
  bool replays = false;
  bool shows_marks = false;
  bool shrinks = true;
  std::string figures;
};

struct Found {
  std::uint64_t seed = 0;
  std::string law;
};

/// Results of all threads of a run.
struct Sum {
  std::mutex mutex;
  CoverageMarks marks;
  std::uint64_t stories = 0;
  std::uint64_t requests = 0;
  std::uint64_t steps = 0;
  std::vector<Found> found;
};

// A thread stops after this many failing stories. If a canary (a defect planted on purpose) is enabled, a
// thread stops after the first failing story.
constexpr std::size_t most_found = 20;
constexpr std::uint64_t twice_every = 100;

void play_some(const Options& options, std::atomic<std::uint64_t>& next, Sum& sum) {
  Stage stage;
  CoverageMarks marks;
  std::uint64_t stories = 0, requests = 0, steps = 0;
  std::vector<Found> found;
  const std::size_t most = options.canary == Canary::none ? most_found : 1;
  for (std::uint64_t i = next++; i < options.stories && found.size() < most; i = next++) {
    Play what{options.seed + i, options.left_out, false, options.canary};
    Played played = play(stage, what, marks);
    if (played.broken.empty() && i % twice_every == 0) {
      CoverageMarks again;
      if (play(stage, what, again).hash != played.hash) played.broken = "the same seed tells the same story";
    }
    ++stories;
    requests += played.requests;
    steps += played.steps;
    if (!played.broken.empty()) found.push_back({what.seed.number, played.broken});
  }
  const std::scoped_lock lock(sum.mutex);
  sum.marks.add(marks);
  sum.stories += stories;
  sum.requests += requests;
  sum.steps += steps;
  sum.found.insert(sum.found.end(), found.begin(), found.end());
}

// Tries to leave out each fault. Leaves it out for good if the same law still breaks. Returns the numbers of
// the faults left out.
std::vector<std::uint32_t> shrink(const Found& found, Canary canary) {
  Stage stage;
  CoverageMarks marks;
  std::vector<std::uint32_t> left_out;
  std::uint32_t faults = play(stage, {found.seed, {}, false, canary}, marks).faults;
  for (std::uint32_t fault = 0; fault < faults; ++fault) {
    std::vector<std::uint32_t> fewer = left_out;
    fewer.push_back(fault);
    const Played played = play(stage, {found.seed, fewer, false, canary}, marks);
    if (played.broken != found.law) continue;
    left_out = std::move(fewer);
    faults = played.faults;
  }
  return left_out;
}

std::string list_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers)
    text.append(text.empty() ? "" : ",").append(std::to_string(number));
  return text;
}

void tell(const Found& found, const char* program, const Options& options) {
  std::printf("FAILED: seed %llu: %s\n", static_cast<unsigned long long>(found.seed), found.law.c_str());
  const std::string left_out = options.shrinks ? list_of(shrink(found, options.canary)) : std::string();
  std::printf("  replay: %s --replay %llu%s%s\n", program, static_cast<unsigned long long>(found.seed),
              left_out.empty() ? "" : " --without ", left_out.c_str());
}

int replay(const Options& options) {
  Stage stage;
  CoverageMarks marks;
  const Played played = play(stage, {options.seed, options.left_out, true, options.canary}, marks);
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(options.seed),
              played.broken.empty() ? "every law holds" : played.broken.c_str());
  return played.broken.empty() ? 0 : 1;
}

void write_figures(const std::string& path, const Sum& sum) {
  const auto kinds = std::count_if(sum.marks.faults.begin(), sum.marks.faults.end(),
                                   [](std::uint64_t count) { return count > 0; });
  std::ofstream(path) << "{\"net stories\": " << sum.stories
                      << ", \"requests in net stories\": " << sum.requests
                      << ", \"fault kinds simulated\": " << kinds << ", \"laws broken\": " << sum.found.size()
                      << "}\n";
}

int run(const Options& options, const char* program) {
  Sum sum;
  std::atomic<std::uint64_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < options.threads; ++i) threads.emplace_back([&] { play_some(options, next, sum); });
  threads.clear();
  std::sort(sum.found.begin(), sum.found.end(),
            [](const Found& a, const Found& b) { return a.seed < b.seed; });
  std::map<std::string, unsigned> told;
  for (const Found& found : sum.found) {
    const std::string law = found.law.substr(0, found.law.find(" ("));
    if (told[law]++ < 2) tell(found, program, options);
  }
  if (options.shows_marks) std::fputs(sum.marks.table().c_str(), stdout);
  const std::vector<std::string> missing = sum.marks.missing(sum.stories);
  const std::vector<std::string> unexpected = sum.marks.unexpected();
  if (options.canary == Canary::none) {
    for (const std::string& name : missing) std::printf("FAILED: too seldom reached: %s\n", name.c_str());
    for (const std::string& name : unexpected)
      std::printf("FAILED: reached, and not known to be possible: %s\n", name.c_str());
    if (!options.figures.empty()) write_figures(options.figures, sum);
  }
  std::printf("%llu stories of %llu requests in %llu steps, %zu broken\n",
              static_cast<unsigned long long>(sum.stories), static_cast<unsigned long long>(sum.requests),
              static_cast<unsigned long long>(sum.steps), sum.found.size());
  if (options.canary != Canary::none) return sum.found.empty() ? 1 : 0;
  return sum.found.empty() && missing.empty() && unexpected.empty() ? 0 : 1;
}

}  // namespace
}  // namespace reprise::simulation

int main(int argc, char** argv) {
  using reprise::simulation::Canary;
  reprise::simulation::Options options;
  CLI::App app("Plays stories of the proxy in memory and in virtual time, and judges each by every law.");
  app.add_option("--stories", options.stories, "how many");
  app.add_option("--seed", options.seed, "of the first one");
  app.add_option("--threads", options.threads, "that play");
  auto* replayed = app.add_option("--replay", options.seed, "the one story of that seed, with a transcript");
  app.add_option("--without", options.left_out, "faults to leave out, by number")->delimiter(',');
  app.add_flag("!--unshrunk", options.shrinks, "leave failing stories as they are");
  app.add_flag("--marks", options.shows_marks, "print what was reached, and how often");
  app.add_option("--figures", options.figures, "file for what was counted");
  app.add_option("--canary", options.canary, "a defect of the story itself: the run fails unless it is found")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Canary>{{"repeated-effect", Canary::repeated_effect},
                                        {"wrong-byte", Canary::wrong_byte},
                                        {"old-name", Canary::old_name},
                                        {"lost-end", Canary::lost_end},
                                        {"deaf-kernel", Canary::deaf_kernel},
                                        {"used-before", Canary::used_before},
                                        {"one-connection", Canary::one_connection},
                                        {"clear-text", Canary::clear_text},
                                        {"processed-anyway", Canary::processed_anyway},
                                        {"kept-window", Canary::kept_window},
                                        {"foreign-death", Canary::foreign_death},
                                        {"unnamed-change", Canary::unnamed_change}}));
  CLI11_PARSE(app, argc, argv);
  return replayed->count() > 0 ? reprise::simulation::replay(options)
                               : reprise::simulation::run(options, argv[0]);
}
