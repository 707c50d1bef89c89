#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/telemetry/log/access_log.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace {

using Clock = std::chrono::steady_clock;
// Much longer than any step of these tests takes on any machine.
constexpr std::chrono::seconds patience{120};

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    reader = ends[0];
    writer = ends[1];
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  void close_reader() { shut(reader); }
  void close_writer() { shut(writer); }

  int reader = -1;
  int writer = -1;

 private:
  static void shut(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// Waits at most `wait_ms` for data and returns the data. Empty at the end of the stream, or if no data
// arrived.
std::string read_some(int descriptor, int wait_ms) {
  pollfd polled{descriptor, POLLIN, 0};
  if (poll(&polled, 1, wait_ms) <= 0) return {};
  std::string text(65536, '\0');
  const ssize_t n = read(descriptor, text.data(), text.size());
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::string read_all(int descriptor) {
  std::string all;
  for (;;) {
    const std::string some = read_some(descriptor, -1);
    if (some.empty()) return all;
    all += some;
  }
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::uint64_t count_lines(const std::string& text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

config::Log json_settings() {
  config::Log settings;
  settings.format = config::LogFormat::json;
  return settings;
}

// Returns false if the condition is still false after two minutes.
template <typename Condition>
bool becomes_true(const Condition& condition) {
  const auto end = Clock::now() + patience;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

const std::vector<std::string> route_names{"api", "orders"};

// At shutdown the log waits one second for its thread. If the thread stalls for longer, lines are lost. That
// is no fault of the queue, so the test repeats the run.
TEST(Log, every_line_is_written_before_shutdown_completes) {
  std::vector<std::string> lines;
  const std::size_t expected =
      3 * (all_stories().size() + 3) + 1;  // three requests exhaust their retries; each adds an error record
  EXPECT_TRUE(becomes_true([&] {
    Pipe pipe;
    std::string text;
    std::thread reading([&] { text = read_all(pipe.reader); });
    {
      Log log(json_settings(), route_names, pipe.writer, LogReader::stream);
      for (int i = 0; i < 3; ++i) {
        for (const ScriptedRequest& story : all_stories()) log.access(story.record());
      }
      log.message(config::LogLevel::warn, "a \"word\"\nand a line", story_wall);
      EXPECT_EQ(log.dropped(), 0U);
    }
    pipe.close_writer();
    reading.join();
    lines = split(text);
    return lines.size() == expected;
  })) << lines.size();
  EXPECT_EQ(lines.back(),
            R"({"time":"2026-01-02T10:03:12.345Z","level":"warn","message":"a \"word\"\u000aand a line"})");
}

TEST(Log, I11_blocked_descriptor_drops_lines_and_never_blocks_callers) {
  Pipe pipe;
  const ScriptedRequest story = all_stories().at(1);
  const std::string marker = "it flows again";
  std::uint64_t given = 0;
  std::string text;
  std::uint64_t dropped = 0;
  {
    Log log(json_settings(), route_names, pipe.writer, LogReader::stream);
    // The pipe has no reader, so a call that waited for the descriptor would never return.
    for (; given < 10000; ++given) log.access(story.record());
    EXPECT_GT(log.dropped(), 0U);
    EXPECT_LT(log.dropped(), given);

    EXPECT_TRUE(becomes_true([&] {
      text += read_some(pipe.reader, 20);
      log.message(config::LogLevel::info, marker, story_wall);
      ++given;
      return text.find(marker) != std::string::npos;
    }));
    // The pipe may be too full for the lines that are still queued, so keep reading.
    EXPECT_TRUE(becomes_true([&] {
      text += read_some(pipe.reader, 20);
      return count_lines(text) + log.dropped() == given;
    }));
    dropped = log.dropped();
  }
  pipe.close_writer();
  text += read_all(pipe.reader);
  const auto lines = split(text);
  EXPECT_EQ(lines.size() + dropped, given);
  for (const std::string& line : lines) {
    boost::json::error_code error;
    boost::json::parse(line, error);
    ASSERT_FALSE(error) << line;
  }
}

TEST(Log, shutdown_is_quick_when_the_descriptor_is_blocked) {
  Pipe pipe;
  std::optional<Log> log(std::in_place, json_settings(), route_names, pipe.writer, LogReader::stream);
  const ScriptedRequest story = all_stories().front();
  for (int i = 0; i < 5000; ++i) log->access(story.record());
  const auto begin = Clock::now();
  log.reset();
  EXPECT_LT(Clock::now() - begin, patience);
}

// A terminal that polls as writable may take part of a line and block on the rest, for example after Ctrl-S.
TEST(Log, shutdown_completes_while_a_terminal_write_hangs) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int side = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(side, 0);
  std::optional<Log> log(std::in_place, config::Log{}, route_names, side, LogReader::terminal);
  const ScriptedRequest story = all_stories().at(1);
  for (int i = 0; i < 5000; ++i) log->access(story.record());
  const auto begin = Clock::now();
  log.reset();
  EXPECT_LT(Clock::now() - begin, patience);
  // The writer thread is still blocked in its write, so `side` stays open.
  close(terminal);
}

TEST(Log, I11_lines_are_dropped_without_sigpipe_if_the_reader_has_closed) {
  Pipe pipe;
  pipe.close_reader();
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  Log log(json_settings(), route_names, pipe.writer, LogReader::stream);
  for (int i = 0; i < 10; ++i) log.message(config::LogLevel::error, "nobody listens", story_wall);
  EXPECT_TRUE(becomes_true([&] { return log.dropped() == 10; })) << log.dropped();
}

TEST(Log, I11_full_disk_drops_and_counts_lines) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  {
    Log log(json_settings(), route_names, full, LogReader::stream);
    for (int i = 0; i < 7; ++i) log.message(config::LogLevel::info, "no room", story_wall);
    EXPECT_TRUE(becomes_true([&] { return log.dropped() == 7; })) << log.dropped();
  }
  close(full);
}

TEST(Log, partially_written_log_line_does_not_corrupt_the_next_line) {
  std::string path = testing::TempDir() + "reprise_log_XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  unlink(path.c_str());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  {
    Log log(json_settings(), route_names, file, LogReader::stream);
    log.message(config::LogLevel::info, std::string(200, 'x'), story_wall);
    const bool dropped = becomes_true([&] { return log.dropped() == 1; });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_TRUE(dropped);
    log.message(config::LogLevel::info, "whole", story_wall);
  }
  std::string text(1000, '\0');
  const ssize_t n = pread(file, text.data(), text.size(), 0);
  close(file);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  const auto lines = split(text);
  ASSERT_EQ(lines.size(), 2U) << text;
  EXPECT_EQ(lines[0].size(), 100U);
  EXPECT_EQ(boost::json::parse(lines[1]).at("message").as_string(), "whole");
}

// Returns the lines of four log calls. A fifth call shows that the four lines have arrived, and its line is
// removed.
std::string logged(const config::Log& settings, LogReader reader) {
  const std::string last = "the last word";
  Pipe pipe;
  Log log(settings, route_names, pipe.writer, reader);
  log.access(all_stories().at(0).record());
  log.access(all_stories().at(7).record());
  log.message(config::LogLevel::debug, "debug text", story_wall);
  log.message(config::LogLevel::warn, "warn text", story_wall);
  log.message(config::LogLevel::error, last, story_wall);
  std::string text;
  EXPECT_TRUE(becomes_true([&] {
    text += read_some(pipe.reader, 20);
    const auto place = text.find(last);
    return place != std::string::npos && text.find('\n', place) != std::string::npos;
  }));
  const auto end_of_others = text.rfind('\n', text.find(last));
  return end_of_others == std::string::npos ? std::string() : text.substr(0, end_of_others + 1);
}

TEST(Log, automatic_format_is_coloured_text_on_a_terminal_and_json_elsewhere) {
  EXPECT_EQ(logged({}, LogReader::stream).front(), '{');
  EXPECT_EQ(logged({}, LogReader::terminal).front(), '\x1b');
  config::Log text;
  text.format = config::LogFormat::text;
  EXPECT_EQ(logged(text, LogReader::stream).find('\x1b'), std::string::npos) << "no colours in a file";
  EXPECT_EQ(logged(json_settings(), LogReader::terminal).front(), '{');
}

// The journal removes the priority prefix and records the time itself.
TEST(Log, journal_lines_start_with_a_priority_and_text_lines_contain_no_time) {
  config::Log settings;
  settings.level = config::LogLevel::debug;
  const auto json = split(logged(settings, LogReader::journal));
  ASSERT_EQ(json.size(), 5U);
  const char* const priorities[] = {"<6>", "<6>", "<3>", "<7>", "<4>"};
  for (std::size_t i = 0; i < json.size(); ++i) {
    EXPECT_EQ(json[i].substr(0, 3), priorities[i]) << json[i];
    EXPECT_TRUE(boost::json::parse(json[i].substr(3)).as_object().contains("time")) << json[i];
  }
  settings.format = config::LogFormat::text;
  const auto text = split(logged(settings, LogReader::journal));
  ASSERT_EQ(text.size(), 5U);
  EXPECT_EQ(text[0].substr(0, 7), "<6>GET ");
  EXPECT_EQ(text[2].substr(0, 28), "<3>error: retries exhausted:");
  EXPECT_EQ(text[3], "<7>debug: debug text");
  EXPECT_EQ(text[4], "<4>warn: warn text");
}

TEST(Log, level_and_access_settings_filter_lines) {
  config::Log settings = json_settings();
  EXPECT_EQ(split(logged(settings, LogReader::stream)).size(), 4U);
  settings.level = config::LogLevel::debug;
  EXPECT_EQ(split(logged(settings, LogReader::stream)).size(), 5U);
  settings.level = config::LogLevel::warn;
  EXPECT_EQ(split(logged(settings, LogReader::stream)).size(), 2U) << "the exhausted record and the warning";
  settings.level = config::LogLevel::error;
  EXPECT_NE(logged(settings, LogReader::stream).find("retries exhausted"), std::string::npos);
  settings = json_settings();
  settings.access = false;
  EXPECT_EQ(split(logged(settings, LogReader::stream)).size(), 2U);
}

TEST(Log, lines_of_concurrent_threads_are_not_interleaved) {
  Pipe pipe;
  std::string text;
  Log log(json_settings(), route_names, pipe.writer, LogReader::stream);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const ScriptedRequest story = all_stories().at(1);
      for (int line = 0; line < 500; ++line) log.access(story.record());
    });
  }
  EXPECT_TRUE(becomes_true([&] {
    text += read_some(pipe.reader, 20);
    return count_lines(text) + log.dropped() == 2000;
  }));
  for (std::thread& each : threads) each.join();
  const auto lines = split(text);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) ASSERT_EQ(line, lines.front());
}

}  // namespace
}  // namespace reprise::telemetry
