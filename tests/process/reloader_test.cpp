// Who asks for a reload is told of one that began afterwards, or that there will be none.
#include "proxy/server/process/reloader.hpp"

#include <gtest/gtest.h>

#include <future>

namespace reprise::server {
namespace {

/// Asks, and waits for what it is told.
ReloadReport ask(Reloader& reloader) {
  std::promise<ReloadReport> told;
  reloader.ask([&](const ReloadReport& report) { told.set_value(report); });
  return told.get_future().get();
}

std::vector<WatchedFile> no_files() { return {}; }

TEST(Reloader, tells_what_became_of_it) {
  int times = 0;
  Reloader reloader(
      [&] {
        return ReloadReport{++times == 2, "hash" + std::to_string(times), 7, {"word"}};
      },
      no_files);
  reloader.start();
  const ReloadReport first = ask(reloader);
  EXPECT_FALSE(first.succeeded);
  EXPECT_EQ(first.hash, "hash1");
  EXPECT_EQ(first.words, std::vector<std::string>{"word"});
  EXPECT_TRUE(ask(reloader).succeeded);
  reloader.stop();
  EXPECT_EQ(times, 2);
}

TEST(Reloader, who_asks_while_it_runs_waits_for_the_next) {
  std::promise<void> begun, go_on;
  int times = 0;
  Reloader reloader(
      [&] {
        if (++times == 1) {
          begun.set_value();
          go_on.get_future().wait();
        }
        return ReloadReport{true, std::to_string(times), 0, {}};
      },
      no_files);
  reloader.start();
  std::promise<std::string> first, second;
  reloader.ask([&](const ReloadReport& report) { first.set_value(report.hash); });
  begun.get_future().wait();
  reloader.ask([&](const ReloadReport& report) { second.set_value(report.hash); });
  reloader.ask();  // nobody to tell
  go_on.set_value();
  EXPECT_EQ(first.get_future().get(), "1");
  EXPECT_EQ(second.get_future().get(), "2");
}

TEST(Reloader, who_waits_at_the_end_is_told_that_it_is) {
  std::promise<void> begun, go_on;
  int times = 0;
  Reloader reloader(
      [&] {
        if (++times == 1) {
          begun.set_value();
          go_on.get_future().wait();
        }
        return ReloadReport{true, {}, 0, {}};
      },
      no_files);
  reloader.start();
  reloader.ask();
  begun.get_future().wait();
  std::promise<ReloadReport> told;
  reloader.ask([&](const ReloadReport& report) { told.set_value(report); });
  std::thread stopping([&] { reloader.stop(); });
  go_on.set_value();
  const ReloadReport report = told.get_future().get();
  stopping.join();
  // The stop may come before or after the second reload begins: the report says which, and never both.
  if (!report.succeeded) {
    EXPECT_EQ(report.words, std::vector<std::string>{"reprise is shutting down"});
  }
  EXPECT_EQ(ask(reloader).words, std::vector<std::string>{"reprise is shutting down"}) << "afterwards";
}

TEST(Reloader, one_that_never_began_ends_at_once) {
  Reloader reloader([] { return ReloadReport{}; }, no_files);
  reloader.stop();
}

}  // namespace
}  // namespace reprise::server
