#include "proxy/server/process/file_watch.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "proxy/net/tls/file_digest.hpp"
#include "tests/support/scarce_descriptors.hpp"

namespace reprise::server {
namespace {

using std::chrono::milliseconds;
using Woken = FileWatch::Woken;
namespace fs = std::filesystem;

/// Makes polling rare (1 h), so that only a notification can end a wait.
constexpr WatchTimes by_sign{milliseconds(1), milliseconds(50), std::chrono::hours(1)};
constexpr WatchTimes by_look{std::chrono::hours(1), std::chrono::hours(1), milliseconds(5)};

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    std::string name = (fs::temp_directory_path() / "reprise-watch-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileWatchTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void replace(const std::string& name, std::string_view text) const {
    write(name + ".new", text);
    fs::rename(path(name + ".new"), path(name));
  }

  fs::path folder_;
};

TEST_F(FileWatchTest, file_change_is_detected_whether_by_write_or_rename_or_delete_or_link) {
  write("f", "one");
  FileWatch watch(by_sign);
  watch.watch({{path("f")}});
  write("f", "two");
  EXPECT_EQ(watch.wait(), Woken::changed) << "written in place";
  replace("f", "three");
  EXPECT_EQ(watch.wait(), Woken::changed) << "renamed over";
  fs::remove(path("f"));
  EXPECT_EQ(watch.wait(), Woken::changed) << "deleted";
  fs::create_directory(path("f"));
  EXPECT_EQ(watch.wait(), Woken::changed) << "a folder instead";
  fs::remove(path("f"));
  EXPECT_EQ(watch.wait(), Woken::changed) << "deleted again";
  fs::create_symlink("nowhere", path("f"));
  fs::create_symlink(path("g"), path("h"));
  fs::remove(path("f"));
  write("g", "four");
  fs::create_symlink("g", path("f"));
  EXPECT_EQ(watch.wait(), Woken::changed) << "a link that leads somewhere";
}

TEST_F(FileWatchTest, changed_symlink_in_a_parent_directory_is_detected) {
  for (const char* version : {"1", "2"}) {
    fs::create_directory(path(version));
    write(std::string(version) + "/f", version);
  }
  fs::create_symlink("1", path("..data"));
  fs::create_symlink("..data/f", path("f"));
  FileWatch watch(by_sign);
  watch.watch({{path("f")}});
  fs::create_symlink("2", path("..data_tmp"));
  fs::rename(path("..data_tmp"), path("..data"));
  EXPECT_EQ(watch.wait(), Woken::changed);
  write("2/f", "in place, where the link leads");
  EXPECT_EQ(watch.wait(), Woken::changed);
}

TEST_F(FileWatchTest, unchanged_content_is_not_reported_as_a_change) {
  write("f", "one");
  FileWatch watch(by_sign);
  watch.watch({{path("f")}});
  write("f", "one");
  replace("f", "one");
  fs::last_write_time(path("f"), fs::file_time_type::clock::now());
  write("other", "x");
  std::thread asker([&] { watch.ask(); });
  EXPECT_EQ(watch.wait(), Woken::asked);
  asker.join();
}

TEST_F(FileWatchTest, change_is_found_by_polling_without_a_notification) {
  write("f", "one");
  FileWatch watch(by_look);
  watch.watch({{path("f")}});
  std::thread writer([&] { write("f", "two"); });
  EXPECT_EQ(watch.wait(), Woken::changed);
  writer.join();
}

TEST_F(FileWatchTest, file_that_changes_continuously_is_still_checked) {
  write("f", "0");
  FileWatch watch({std::chrono::hours(1), milliseconds(20), std::chrono::hours(1)});
  watch.watch({{path("f")}});
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    for (int i = 1; !ended; ++i) write("f", std::to_string(i));
  });
  EXPECT_EQ(watch.wait(), Woken::changed);
  ended = true;
  writer.join();
}

TEST_F(FileWatchTest, change_between_reading_a_file_and_watching_it_is_reported_at_once) {
  write("f", "one");
  const std::string read = path("f");
  const std::string digest = net::digest_of_files({&read, 1});
  write("f", "two");
  FileWatch watch(by_sign);
  watch.watch({{path("f"), digest}});
  EXPECT_EQ(watch.wait(), Woken::changed);
  write("g", "one");
  watch.watch({{path("f"), digest}, {path("g"), digest}});
  watch.ask();
  EXPECT_EQ(watch.wait(), Woken::asked) << "f is known since, and g holds what it did";
}

TEST_F(FileWatchTest, special_files_are_not_read) {
  const std::string pipe = path("pipe");
  const std::string zero = "/dev/zero";
  const std::string folder = folder_.string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(net::digest_of_files({&pipe, 1}), net::digest_of_files({&pipe, 1}));
  EXPECT_NE(net::digest_of_files({&pipe, 1}), net::digest_of_files({&zero, 1}));
  EXPECT_NE(net::digest_of_files({&folder, 1}), net::digest_of_files({&zero, 1}));
}

TEST_F(FileWatchTest, file_stamp_is_returned_only_if_every_later_write_is_sure_to_change_it) {
  write("f", "one");
  const std::string file = path("f"), folder = folder_.string();
  const std::int64_t now = net::Clock::wall_nanoseconds(), later = now + 3'000'000'000;
  EXPECT_FALSE(net::stamp_of_unchanged_file(file, now))
      << "a write in the same tick would leave the same stamp";
  EXPECT_FALSE(net::stamp_of_unchanged_file(file, now - 3'000'000'000))
      << "the clock was set back since the write";
  EXPECT_FALSE(net::stamp_of_unchanged_file(folder, later));
  EXPECT_FALSE(net::stamp_of_unchanged_file(path("missing"), later));
  const auto stamp = net::stamp_of_unchanged_file(file, later);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(net::stamp_of_unchanged_file(file, later), stamp);
  const auto modified = fs::last_write_time(file);
  do {  // until the kernel's clock has advanced
    write("f", "two");
    fs::last_write_time(file, modified);
  } while (net::stamp_of_unchanged_file(file, later) == stamp);
  EXPECT_TRUE(net::stamp_of_unchanged_file(file, later));
}

TEST(FileDigest, I6_file_that_cannot_be_opened_for_lack_of_descriptors_does_not_count_as_changed) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  const std::string file = "/dev/null", missing = "/no/such/file";
  const auto before = net::digest_of_file(file);
  ASSERT_TRUE(before);
  EXPECT_TRUE(net::digest_of_file(missing)) << "that it is missing is known";
  {
    const play::ScarceDescriptors scarce(0);
    EXPECT_FALSE(net::digest_of_file(file));
  }
  EXPECT_EQ(net::digest_of_file(file), before);
}

TEST_F(FileWatchTest, change_between_two_calls_of_watch_is_reported) {
  write("f", "one");
  FileWatch watch(by_look);
  watch.watch({{path("f")}});
  write("f", "two");
  watch.watch({{path("f")}, {path("more")}});
  EXPECT_EQ(watch.wait(), Woken::changed) << "of a file that was watched before";
  write("more", "x");
  EXPECT_EQ(watch.wait(), Woken::changed);
}

TEST_F(FileWatchTest, I6_file_watch_without_a_free_descriptor_throws) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  const play::ScarceDescriptors scarce(0);
  EXPECT_THROW(FileWatch(), std::system_error);
}

TEST_F(FileWatchTest, relative_file_name_is_watched_in_the_working_directory) {
  FileWatch watch(by_look);
  watch.watch({{"no-such-file-of-reprise"}, {"/no-such-file-of-reprise"}});
  watch.ask();
  EXPECT_EQ(watch.wait(), Woken::asked) << "neither is there, which is no change";
}

TEST_F(FileWatchTest, pending_reload_requests_cause_one_wake_up_and_stop_ends_every_later_wait_at_once) {
  FileWatch watch(by_sign);
  watch.watch({{path("nothing/at/all")}});
  watch.ask();
  watch.ask();
  EXPECT_EQ(watch.wait(), Woken::asked);
  watch.ask();
  watch.stop();
  EXPECT_EQ(watch.wait(), Woken::stopped);
  EXPECT_EQ(watch.wait(), Woken::stopped);
}

}  // namespace
}  // namespace reprise::server
