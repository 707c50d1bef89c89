// What files hold, as a short text that changes when any of them does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace reprise::net {

/// SHA-256 over what each file holds; of one that cannot be read, over why; of a folder, over its entries'
/// names and when each was changed. Blocks: not for an io thread. What was read, keys too, is wiped from
/// memory.
std::string digest_of_files(std::span<const std::string> files);
/// The same of one file; nothing if there is no descriptor to read it by, which says nothing about the file.
std::optional<std::string> digest_of_file(const std::string& file);

/// What the kernel knows about a file without reading it: where it is, how long, and when it last changed.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;                  ///< bytes
  std::int64_t modified_nanoseconds = 0;  ///< wall clock
  std::int64_t changed_nanoseconds = 0;   ///< wall clock; every write moves it, and no program can set it
  bool operator==(const FileStamp&) const = default;
};

/// The stamp of a regular file that nobody has changed in the last two seconds before
/// `now_nanoseconds` (wall clock). As long as it stays the same, so does the content. Nothing for any other
/// file: two writes within one tick of the kernel's clock leave the same stamp, and some file systems of
/// other hosts keep no times.
std::optional<FileStamp> stamp_of_resting_file(const std::string& file, std::int64_t now_nanoseconds);

}  // namespace reprise::net
