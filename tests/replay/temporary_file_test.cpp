// Tests TemporaryFile: it has no name, returns the exact bytes, and reports every failure.
#include "proxy/forward/replay/temporary_file.hpp"

#include "tests/replay/replay_bench.hpp"
#include "tests/support/descriptors.hpp"

namespace reprise::forward {
namespace {

class TemporaryFileTest : public ::testing::Test {
 protected:
  std::string read(std::size_t count, std::uint64_t offset) {
    std::string bytes(count, '\0');
    EXPECT_EQ(file.read(bytes.data(), count, offset), 0);
    return bytes;
  }

  OwnFolder folder;
  play::ScriptedDisk disk;
  FileCalls calls = disk.calls();
  TemporaryFile file{calls, folder.path()};
};

TEST_F(TemporaryFileTest, I12_temporary_file_has_no_name_and_disappears_with_its_owner) {
  const std::size_t before = play::open_descriptors();
  {
    TemporaryFile other(calls, folder.path());
    EXPECT_EQ(play::open_descriptors(), before);  // the first write opens the file
    EXPECT_EQ(other.append("bytes"), 0);
    EXPECT_EQ(play::open_descriptors(), before + 1);
    EXPECT_TRUE(folder.empty());
  }
  EXPECT_EQ(play::open_descriptors(), before);
}

TEST_F(TemporaryFileTest, appended_bytes_are_read_from_any_offset) {
  EXPECT_EQ(file.append("0123456789"), 0);
  EXPECT_EQ(read(10, 0), "0123456789");
  EXPECT_EQ(file.append("abc"), 0);
  EXPECT_EQ(read(5, 8), "89abc");
  EXPECT_EQ(read(0, 13), "");
}

TEST_F(TemporaryFileTest, D17_short_writes_and_reads_are_continued) {
  disk.at_once = 3;
  EXPECT_EQ(file.append("0123456789"), 0);
  EXPECT_EQ(file.append("abcde"), 0);
  EXPECT_EQ(read(15, 0), "0123456789abcde");
}

TEST_F(TemporaryFileTest, D17_file_stays_failed_after_a_full_disk) {
  disk.room = 4;
  EXPECT_EQ(file.append("0123456789"), ENOSPC);
  disk.room = disk.endless;
  EXPECT_EQ(file.append("x"), ENOSPC);
  char byte = 0;
  EXPECT_EQ(file.read(&byte, 1, 0), ENOSPC);  // a failed file may have a hole, so no byte of it is returned
}

TEST_F(TemporaryFileTest, D17_read_error_and_truncated_file_are_reported) {
  EXPECT_EQ(file.append("0123456789"), 0);
  std::string bytes(11, '\0');
  EXPECT_EQ(file.read(bytes.data(), 11, 0), EIO);
  TemporaryFile other(calls, folder.path());
  EXPECT_EQ(other.append("0123456789"), 0);
  disk.readable = 5;
  EXPECT_EQ(other.read(bytes.data(), 10, 0), EIO);
}

TEST_F(TemporaryFileTest, D17_unusable_folder_is_reported) {
  TemporaryFile gone(calls, folder.path() + "/gone");
  EXPECT_EQ(gone.append("x"), ENOENT);
  TemporaryFile device(calls, "/dev/null");
  EXPECT_EQ(device.append("x"), ENOTDIR);
  TemporaryFile kernel(calls, "/proc");  // a filesystem in which no file can be created
  EXPECT_NE(kernel.append("x"), 0);
}

}  // namespace
}  // namespace reprise::forward
