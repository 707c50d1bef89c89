#include "proxy/net/tls/file_digest.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>

#include "proxy/net/io/descriptors.hpp"

namespace reprise::net {
namespace {

struct FreeDigest {
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};
using Digest = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

void add(const Digest& digest, const void* bytes, std::size_t count) {
  if (EVP_DigestUpdate(digest.get(), bytes, count) != 1) throw std::runtime_error("SHA-256 does not work");
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Adds the entries of a folder. A link counts as its target. The entry `.` represents the folder itself: its
// time changes with each entry that is added or removed. Takes ownership of the descriptor, because the
// process may have no second descriptor left.
void add_folder(const Digest& digest, int descriptor) {
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(descriptor));
  if (folder == nullptr) {
    ::close(descriptor);
    return;
  }
  std::map<std::string, std::array<std::int64_t, 5>> entries;
  while (const dirent* const entry = ::readdir(folder.get())) {
    struct stat found {};
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &found, 0) != 0) found = {};
    entries[entry->d_name] = {static_cast<std::int64_t>(found.st_dev),
                              static_cast<std::int64_t>(found.st_ino), found.st_size, found.st_mtim.tv_sec,
                              found.st_mtim.tv_nsec};
  }
  entries.erase("..");
  for (const auto& [name, stamp] : entries) {
    add(digest, name.c_str(), name.size() + 1);
    add(digest, stamp.data(), sizeof stamp);
  }
}

// Adds the content of a regular file. For a special file adds only the type, because reading it might block
// or never end. Returns 0, or the errno of open.
int add_file(const Digest& digest, const std::string& file) {
  std::array<char, 16 * 1024> piece{};
  std::uint64_t length = 0;
  int why = 0;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int unopened = descriptor < 0 ? errno : 0;
  if (descriptor < 0) {
    why = unopened;
  } else {
    constexpr std::uint64_t most = 64 * 1024 * 1024;
    struct stat found {};
    const bool is_file = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
    if (!is_file) why = -static_cast<int>(found.st_mode & S_IFMT);
    while (is_file) {
      const ssize_t count = ::read(descriptor, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) why = errno;
      if (count <= 0 || length > most) break;
      length += static_cast<std::uint64_t>(count);
      add(digest, piece.data(), static_cast<std::size_t>(count));
    }
    if (S_ISDIR(found.st_mode)) {
      add_folder(digest, descriptor);
    } else {
      ::close(descriptor);
    }
  }
  OPENSSL_cleanse(piece.data(), piece.size());
  // The length separates the content of one file from that of the next.
  add(digest, &length, sizeof length);
  add(digest, &why, sizeof why);
  return unopened;
}

Digest begin() {
  Digest digest(EVP_MD_CTX_new());
  if (digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 does not work");
  return digest;
}

std::string text_of(const Digest& digest) {
  std::string text(EVP_MAX_MD_SIZE, '\0');
  unsigned length = 0;
  EVP_DigestFinal_ex(digest.get(), reinterpret_cast<unsigned char*>(text.data()), &length);
  text.resize(length);
  return text;
}

}  // namespace

std::string digest_of_files(std::span<const std::string> files) {
  const Digest digest = begin();
  for (const std::string& file : files) add_file(digest, file);
  return text_of(digest);
}

std::optional<std::string> digest_of_file(const std::string& file) {
  const Digest digest = begin();
  if (is_out_of_descriptors(add_file(digest, file))) return std::nullopt;
  return text_of(digest);
}

std::optional<FileStamp> stamp_of_unchanged_file(const std::string& file, std::int64_t now_nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  const FileStamp stamp{found.st_dev, found.st_ino, found.st_size,
                        found.st_mtim.tv_sec * second + found.st_mtim.tv_nsec,
                        found.st_ctim.tv_sec * second + found.st_ctim.tv_nsec};
  if (stamp.changed_nanoseconds <= 0 || stamp.changed_nanoseconds > now_nanoseconds - 2 * second)
    return std::nullopt;
  return stamp;
}

}  // namespace reprise::net
