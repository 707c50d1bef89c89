// Tests which requests get spans, and how the spans pass from one thread to another.
#include "proxy/telemetry/tracing/span_queue.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proxy/telemetry/tracing/sampling.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::server {
namespace {

using policy::Reason;
using telemetry::ScriptedRequest;

ScriptedRequest request(const std::string& path, int attempts = 1) {
  ScriptedRequest made("queued", "GET", path);
  for (int i = 1; i < attempts; ++i)
    made.attempt(telemetry::status(503), 1,
                 telemetry::retry_in(std::chrono::milliseconds(1), Reason::retryable_status));
  return made.attempt(telemetry::status(200), 1, telemetry::stop(Reason::success))
      .ends(telemetry::Ending::complete, 200);
}

bool push(telemetry::SpanQueue& queue, const ScriptedRequest& scripted, std::uint64_t random) {
  const telemetry::ExchangeRecord record = scripted.record();
  return queue.push(telemetry::EncodedEntry(record, true), random);
}

bool is_readable(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  return ::poll(&polled, 1, 0) == 1;
}

double metric(telemetry::Metrics& metrics, const std::string& series) {
  const std::string text = metrics.text();
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

TEST(Sampling, parent_alone_decides_whether_to_sample) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-";
  for (const char* yes : {"01", "03", "ff", "0b"})
    EXPECT_TRUE(telemetry::is_sampled(trace + yes, false, 0, 0)) << yes;
  for (const char* no : {"00", "02", "fe", "0a"})
    EXPECT_FALSE(telemetry::is_sampled(trace + no, true, 1, ~0ULL)) << no;
}

TEST(Sampling, trace_id_decides_without_a_parent_and_failures_are_always_sampled) {
  EXPECT_TRUE(telemetry::is_sampled("", true, 0, 0));
  EXPECT_FALSE(telemetry::is_sampled("", false, 0, ~0ULL));
  EXPECT_TRUE(telemetry::is_sampled("", false, 1, 0));
  constexpr std::uint64_t tenth = (std::uint64_t{1} << 56) / 10 * 9;
  EXPECT_FALSE(telemetry::is_sampled("", false, 0.1, tenth - 100));
  EXPECT_TRUE(telemetry::is_sampled("", false, 0.1, tenth + 100));
  EXPECT_FALSE(telemetry::is_sampled("", false, 0.1, 0xff00'0000'0000'0000))
      << "the first 8 bits are no part of it";
  policy::SeededDice dice(7);
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i)
    sampled += telemetry::is_sampled("", false, 0.25, dice.roll(~0ULL)) ? 1 : 0;
  EXPECT_NEAR(sampled, 2500, 200);
}

TEST(Sampling, offered_spans_are_queued_or_counted_as_dropped) {
  telemetry::Metrics metrics(std::vector<std::string>{"default"}, {}, "1");
  telemetry::SpanQueues queues(1, 4096);
  policy::SeededDice dice(1);
  const ScriptedRequest three = request("/x", 3);
  int offered = 0;
  while (metric(metrics, "reprise_trace_dropped_total{cause=\"queue_full\"}") == 0) {
    telemetry::offer_spans(queues.of(0), metrics, three.record(), false, 0, dice);
    ASSERT_LT(++offered, 100);
  }
  EXPECT_GT(offered, 2);
  EXPECT_EQ(metric(metrics, "reprise_trace_dropped_total{cause=\"queue_full\"}"), 4)
      << "one and its three attempts";
  const auto queued = queues.of(0).pop();
  ASSERT_TRUE(queued);
  EXPECT_EQ(queued->story.path, "") << "it is not to be told";
  telemetry::offer_spans(queues.of(0), metrics, request("/y").record(), false, 0, dice);
  while (const auto next = queues.of(0).pop())
    EXPECT_EQ(next->story.attempts.size(), 3U) << "one was not sampled";
}

TEST(SpanQueue, entries_of_any_size_come_out_in_order) {
  for (const std::size_t bytes : {1500U, 2048U, 5000U, 9999U}) {
    telemetry::SpanBell bell;
    telemetry::SpanQueue queue(bytes, bell);
    EXPECT_FALSE(queue.pop());
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
      const std::string path = "/" + std::string(static_cast<std::size_t>(round * 37 % 200), 'x');
      if (push(queue, request(path, 1 + round % 4), in)) {
        ++in;
      } else {
        ++refused;
      }
      for (int i = round % 3 == 0 ? 2 : 0; i > 0; --i) {
        const auto queued = queue.pop();
        if (!queued) break;
        ASSERT_EQ(queued->random, out++) << bytes;
        ASSERT_EQ(queued->story.path[0], '/');
      }
    }
    while (const auto queued = queue.pop()) ASSERT_EQ(queued->random, out++);
    EXPECT_EQ(in, out);
    EXPECT_GT(refused, 0);
    EXPECT_GT(out, 500U);
  }
}

TEST(SpanQueue, span_reader_is_woken_once_for_each_batch_and_once_when_the_queue_is_half_full) {
  telemetry::SpanBell bell;
  telemetry::SpanQueue queue(4096, bell);
  ASSERT_TRUE(push(queue, request("/a"), 1)) << "before anybody listens";
  EXPECT_TRUE(bell.rung());
  const int descriptor = bell.open();
  EXPECT_EQ(bell.open(), descriptor);
  EXPECT_FALSE(is_readable(descriptor));
  bell.reset();
  EXPECT_FALSE(bell.rung());
  ASSERT_TRUE(push(queue, request("/b"), 2));
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_FALSE(bell.pressed());
  while (push(queue, request("/c", 4), 3)) continue;
  EXPECT_TRUE(bell.pressed());
  bell.reset();
  EXPECT_FALSE(bell.pressed() || bell.rung());
}

// One thread writes as fast as it can and another reads. No accepted entry is lost or damaged, and the reader
// never sleeps while an entry is queued.
TEST(SpanQueue, concurrent_writer_and_reader_lose_no_entry) {
  telemetry::SpanQueues queues(1, 8 * 1024);
  telemetry::SpanBell& bell = queues.bell();
  const int descriptor = bell.open();
  constexpr std::uint64_t all = 20'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < all;) {
      if (push(queues.of(0), request("/" + std::to_string(i)), i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t next = 0;
  while (next < all) {
    pollfd polled{descriptor, POLLIN, 0};
    ASSERT_EQ(::poll(&polled, 1, 60'000), 1) << "asleep on " << next;
    eventfd_t ignored = 0;
    ASSERT_EQ(::read(descriptor, &ignored, sizeof ignored), static_cast<ssize_t>(sizeof ignored));
    bell.reset();
    while (const auto queued = queues.of(0).pop()) {
      ASSERT_EQ(queued->random, next);
      ASSERT_EQ(queued->story.path, "/" + std::to_string(next));
      ++next;
    }
  }
  writer.join();
}

}  // namespace
}  // namespace reprise::server
