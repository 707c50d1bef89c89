// Digests of files: short texts that change when the content changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace reprise::net {

/// Returns the SHA-256 over the content of all files. A file that cannot be read is represented by the error,
/// and a folder by the names and modification times of its entries. Blocks, so do not call it on an io
/// thread. Wipes the read bytes from memory, because they may be keys.
std::string digest_of_files(std::span<const std::string> files);
/// Returns the digest of one file, as `digest_of_files` computes it. No value if no descriptor was free,
/// because the content is then unknown.
std::optional<std::string> digest_of_file(const std::string& file);

/// Metadata of a file: its identity, size and times.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;                  ///< bytes
  std::int64_t modified_nanoseconds = 0;  ///< wall clock
  /// Time of the last change (ctime) by the wall clock. Every write changes it, and no program can set it.
  std::int64_t changed_nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

/// Returns the stamp of a regular file that has not changed in the two seconds before `now_nanoseconds` (wall
/// clock). While this stamp stays the same, so does the content. Returns no value for any other file: two
/// writes within one tick of the kernel's clock leave the same stamp, and some network file systems keep no
/// times.
std::optional<FileStamp> stamp_of_unchanged_file(const std::string& file, std::int64_t now_nanoseconds);

}  // namespace reprise::net
