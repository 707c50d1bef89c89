#include "proxy/net/systemd/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/systemd/variables.hpp"

namespace reprise::net {
namespace {

std::string named(int descriptor) {
  struct stat status {};
  EXPECT_EQ(::fstat(descriptor, &status), 0);
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

TEST(JournalStream, journal_stream_is_recognised_by_device_and_inode) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string name = named(ends[1]);
  EXPECT_TRUE(is_journal_stream(play::of({{"JOURNAL_STREAM", name}}), ends[1]));
  EXPECT_FALSE(is_journal_stream(play::of({}), ends[1])) << "no variable";
  for (const std::string& other :
       {std::string(), std::string("8"), name + "1", "1" + name, name + ":", name + " "})
    EXPECT_FALSE(is_journal_stream(play::of({{"JOURNAL_STREAM", other}}), ends[1])) << other;
  EXPECT_FALSE(is_journal_stream(play::of({{"JOURNAL_STREAM", name}}), STDIN_FILENO)) << "another stream";
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_FALSE(is_journal_stream(play::of({{"JOURNAL_STREAM", name}}), ends[1])) << "a closed descriptor";
}

}  // namespace
}  // namespace reprise::net
