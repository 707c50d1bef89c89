// Tests that a reload request gets the report of a reload that began after the request, or of the shutdown.
#include "proxy/server/process/reloader.hpp"

#include <gtest/gtest.h>

#include <future>

namespace reprise::server {
namespace {

/// Requests a reload and waits for its report.
ReloadReport ask(Reloader& reloader) {
  std::promise<ReloadReport> told;
  reloader.ask([&](const ReloadReport& report) { told.set_value(report); });
  return told.get_future().get();
}

std::vector<WatchedFile> no_files() { return {}; }

TEST(Reloader, reload_report_reaches_the_caller) {
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

TEST(Reloader, reload_that_is_requested_during_a_reload_runs_after_it) {
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
  reloader.ask();  // without a callback
  go_on.set_value();
  EXPECT_EQ(first.get_future().get(), "1");
  EXPECT_EQ(second.get_future().get(), "2");
}

TEST(Reloader, callers_that_wait_for_a_reload_at_shutdown_are_notified) {
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
  // stop() may be called before or after the second reload begins. The requester of the reload gets one
  // report in both cases.
  if (!report.succeeded) {
    EXPECT_EQ(report.words, std::vector<std::string>{"reprise is shutting down"});
  }
  EXPECT_EQ(ask(reloader).words, std::vector<std::string>{"reprise is shutting down"}) << "afterwards";
}

TEST(Reloader, reloader_that_was_never_started_stops_at_once) {
  Reloader reloader([] { return ReloadReport{}; }, no_files);
  reloader.stop();
}

}  // namespace
}  // namespace reprise::server
