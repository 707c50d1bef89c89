// Tests EventFeed without a proxy: what each reader receives, and which readers are evicted.
#include "proxy/server/admin/event_feed.hpp"

#include <atomic>

#include "tests/support/loopback.hpp"

namespace reprise::server {
namespace {

/// An EventFeed that sends numbered texts (`[whole 1]`, `[changes 2]`, ...), and its readers over loopback.
class Readers {
 public:
  explicit Readers(FeedLimits limits = {}, std::string padding = {})
      : feed_(std::make_shared<EventFeed>(bench_.io, helper_, numbered(std::move(padding)), limits)) {}
  ~Readers() {
    feed_->end();
    EXPECT_TRUE(bench_.run_until([&] { return serving_ == 0; }));
    helper_.join();
  }

  play::RawSocket join() {
    tcp::acceptor acceptor(bench_.io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    play::RawSocket client = play::RawSocket::connect_to(acceptor.local_endpoint().port());
    ++serving_;
    asio::co_spawn(bench_.io, serve(acceptor.accept()), [this](const std::exception_ptr& failure) {
      EXPECT_EQ(failure, nullptr);
      --serving_;
    });
    return client;
  }
  /// Runs the loop until `client` has received the text.
  bool hears(play::RawSocket& client, std::string_view text) {
    return bench_.run_until([&] {
      client.read_more(std::chrono::milliseconds(0));
      return client.received().find(text) != std::string::npos;
    });
  }
  /// Runs the loop until exactly `serving` readers are being served. Meanwhile reads the data of the reader
  /// `reading`, unless it is null.
  bool is_left_by(int serving, play::RawSocket* reading = nullptr) {
    return bench_.run_until([&] {
      if (reading != nullptr) {
        reading->read_more(std::chrono::milliseconds(0));
        reading->take_all();
      }
      return serving_ == serving;
    });
  }

  EventFeed& feed() { return *feed_; }
  int made() const { return made_; }
  int made_whole() const { return made_whole_; }

 private:
  EventFeed::Make numbered(std::string padding) {
    return [this, padding = std::move(padding)](bool whole) {
      const std::string number = std::to_string(++made_);
      if (whole) ++made_whole_;
      return Edition{whole ? "[whole " + number + padding + "]" : "", "[changes " + number + padding + "]"};
    };
  }

  Task<void> serve(tcp::socket socket) {
    AdminVisit visit(visits_, bench_.tick, std::move(socket));
    visit.asked(AdminWork::page);
    visit.stop_counting();
    EXPECT_TRUE(visits_.has_room());
    co_await feed_->serve(feed_, visit, "head;");
  }

  net::Bench bench_;
  asio::thread_pool helper_{1};
  AdminVisits visits_{1};
  std::atomic<int> made_ = 0;
  std::atomic<int> made_whole_ = 0;
  int serving_ = 0;
  std::shared_ptr<EventFeed> feed_;
};

FeedLimits quick() {
  FeedLimits limits;
  limits.period = std::chrono::milliseconds(20);
  limits.least_period = std::chrono::milliseconds(1);
  return limits;
}

TEST(EventFeed, reader_gets_the_full_state_first_and_then_only_changes) {
  Readers readers(quick());
  play::RawSocket client = readers.join();
  ASSERT_TRUE(readers.hears(client, "[changes 3]"));
  EXPECT_TRUE(client.received().starts_with("head;[whole 1][changes 2][changes 3]")) << client.received();
  EXPECT_EQ(readers.made_whole(), 1);
}

TEST(EventFeed, events_are_built_once_for_all_readers_and_never_without_readers) {
  Readers readers(quick());
  EXPECT_EQ(readers.made(), 0);
  play::RawSocket first = readers.join();
  ASSERT_TRUE(readers.hears(first, "[whole 1]"));
  play::RawSocket second = readers.join();
  ASSERT_TRUE(readers.hears(second, "[whole "));
  const std::string last = "[changes " + std::to_string(readers.made() + 1) + "]";
  EXPECT_TRUE(readers.hears(first, last));
  EXPECT_TRUE(readers.hears(second, last));
  first.close();
  second.close();
  EXPECT_TRUE(readers.is_left_by(0)) << "the end of a connection is noticed by itself";
  const int made = readers.made();
  play::RawSocket third = readers.join();
  EXPECT_TRUE(readers.hears(third, "[whole "));
  EXPECT_LE(readers.made(), made + 2) << "nothing was made while nobody was there";
}

TEST(EventFeed, new_reader_gets_the_full_state_without_waiting_for_the_next_tick) {
  FeedLimits limits = quick();
  limits.period = std::chrono::hours(1);
  Readers readers(limits);
  play::RawSocket first = readers.join();
  ASSERT_TRUE(readers.hears(first, "[whole 1]"));
  play::RawSocket second = readers.join();
  EXPECT_TRUE(readers.hears(second, "[whole 2]"));
  EXPECT_TRUE(readers.hears(first, "[changes 2]"));
}

TEST(EventFeed, L32_reader_that_stops_reading_is_disconnected_and_others_stay) {
  FeedLimits limits = quick();
  limits.patience = std::chrono::milliseconds(300);
  limits.kernel_buffer = 4096;
  Readers readers(limits, std::string(100'000, '.'));
  play::RawSocket deaf = readers.join();
  play::RawSocket reading = readers.join();
  EXPECT_TRUE(readers.is_left_by(1, &reading));
  EXPECT_NE(deaf.read_to_end(), play::Wire::open);
}

TEST(EventFeed, L32_reader_is_disconnected_when_its_unsent_bytes_exceed_the_limit) {
  FeedLimits limits = quick();
  limits.patience = std::chrono::hours(1);
  limits.kernel_buffer = 4096;
  limits.unsent = 300'000;
  Readers readers(limits, std::string(100'000, '.'));
  play::RawSocket deaf = readers.join();
  EXPECT_TRUE(readers.is_left_by(0)) << "without a limit of time it goes by its bytes";
}

TEST(EventFeed, L32_event_feed_has_no_room_for_more_readers_than_its_limit) {
  FeedLimits limits = quick();
  limits.readers = 2;
  Readers readers(limits);
  EXPECT_TRUE(readers.feed().has_room());
  play::RawSocket first = readers.join();
  play::RawSocket second = readers.join();
  EXPECT_TRUE(readers.hears(second, "[whole "));
  EXPECT_FALSE(readers.feed().has_room());
  first.close();
  EXPECT_TRUE(readers.is_left_by(1));
  EXPECT_TRUE(readers.feed().has_room());
}

TEST(EventFeed, unexpected_bytes_from_a_reader_do_not_end_its_stream) {
  Readers readers(quick());
  play::RawSocket client = readers.join();
  ASSERT_TRUE(readers.hears(client, "[whole 1]"));
  EXPECT_TRUE(client.send("GET /livez HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(readers.hears(client, "[changes " + std::to_string(readers.made() + 3) + "]"));
}

TEST(EventFeed, closing_the_feed_sends_an_end_event_and_admits_no_new_readers) {
  Readers readers(quick());
  play::RawSocket client = readers.join();
  ASSERT_TRUE(readers.hears(client, "[whole 1]"));
  readers.feed().end();
  readers.feed().end();
  EXPECT_FALSE(readers.feed().has_room());
  EXPECT_TRUE(readers.hears(client, "event: end\ndata: {\"reason\":\"this listener is closed\"}\n\n"));
  EXPECT_TRUE(readers.is_left_by(0));
  EXPECT_EQ(client.read_to_end(), play::Wire::fin);
}

}  // namespace
}  // namespace reprise::server
