// Tests look-ups by the C library: a few threads run them, and a thread that hangs blocks no caller.
#include "proxy/net/resolve/library_names.hpp"

#include <condition_variable>
#include <mutex>

#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"

namespace reprise::net::library_names_test {
namespace {

/// A C library whose look-ups hang until let_go() is called.
class Hanging {
 public:
  ~Hanging() { let_go(); }
  LibraryNames::Ask ask() {
    return [state = state_](const std::string&) {
      std::unique_lock lock(state->mutex);
      ++state->asked;
      state->changed.wait(lock, [&] { return state->open; });
      return Found{{asio::ip::make_address("192.0.2.1")}};
    };
  }
  void let_go() {
    const std::scoped_lock lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  int asked() {
    const std::scoped_lock lock(state_->mutex);
    return state_->asked;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    int asked = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

Task<std::shared_ptr<const Addresses>> wait(std::shared_ptr<Lookup> lookup, Duration limit) {
  co_return co_await lookup->wait(limit);
}

class LibraryNamesTest : public ::testing::Test {
 protected:
  std::shared_ptr<Lookup> ask(const std::string& name) {
    return resolver_.start(name, bench_.io.get_executor());
  }

  Hanging library_;
  Bench bench_;
  std::unique_ptr<telemetry::Metrics> metrics_ = make_metrics();
  std::unique_ptr<LibraryNames> names_ = std::make_unique<LibraryNames>(library_.ask());
  Resolver resolver_{[this](Resolver::Question question) { names_->resolve(std::move(question)); },
                     Resolver::Limits(), *metrics_};
};

TEST_F(LibraryNamesTest, at_most_four_lookups_run_at_a_time) {
  std::vector<std::shared_ptr<Lookup>> waiting;
  for (int i = 0; i < 6; ++i) waiting.push_back(ask(std::to_string(i)));
  ASSERT_TRUE(play::eventually([&] { return library_.asked() == 4; }));
  library_.let_go();
  for (const auto& lookup : waiting) {
    const auto response = bench_.run(wait(lookup, long_enough));
    ASSERT_NE(response, nullptr);
    EXPECT_EQ(response->list.size(), 1U);
  }
  EXPECT_EQ(library_.asked(), 6);
}

TEST_F(LibraryNamesTest, abandoned_lookup_is_skipped) {
  std::vector<std::shared_ptr<Lookup>> hanging;
  for (int i = 0; i < 4; ++i) hanging.push_back(ask("dead" + std::to_string(i)));
  ASSERT_TRUE(play::eventually([&] { return library_.asked() == 4; }));
  ask("given.up").reset();
  const auto staying = ask("up.test");
  library_.let_go();
  EXPECT_NE(bench_.run(wait(staying, long_enough)), nullptr);
  EXPECT_EQ(library_.asked(), 5);
  EXPECT_NE(bench_.run(wait(ask("given.up"), long_enough)), nullptr) << "asked for anew";
}

TEST_F(LibraryNamesTest, lookup_beyond_the_queue_limit_fails_at_once) {
  std::vector<std::shared_ptr<Lookup>> hanging;
  for (int i = 0; i < 4; ++i) hanging.push_back(ask("dead" + std::to_string(i)));
  ASSERT_TRUE(play::eventually([&] { return library_.asked() == 4; }));
  for (std::size_t i = 0; i < LibraryNames::most_waiting; ++i) hanging.push_back(ask(std::to_string(i)));
  const auto response = bench_.run(wait(ask("one.more"), long_enough));
  ASSERT_NE(response, nullptr);
  EXPECT_TRUE(response->list.empty());
}

TEST_F(LibraryNamesTest, shutdown_does_not_wait_for_a_hanging_lookup) {
  const auto lookup = ask("dead");
  ASSERT_TRUE(play::eventually([&] { return library_.asked() == 1; }));
  names_.reset();
  EXPECT_EQ(bench_.run(wait(lookup, milliseconds(1))), nullptr);
}

TEST(AskLibrary, library_resolves_localhost_and_numeric_addresses) {
  const Found local = ask_library("localhost", false);
  EXPECT_FALSE(local.list.empty());
  for (const auto& address : local.list) EXPECT_TRUE(address.is_loopback());
  EXPECT_TRUE(ask_library("localhost", true).list.empty());
  EXPECT_EQ(ask_library("2852039166", true).list.front().to_string(), "169.254.169.254");
}

}  // namespace
}  // namespace reprise::net::library_names_test
