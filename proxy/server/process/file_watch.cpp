#include "proxy/server/process/file_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

namespace reprise::server {
namespace {

// Number that `stop` adds to the eventfd; `ask` adds 1.
constexpr std::uint64_t stop_request = 1ULL << 32U;

using Steady = std::chrono::steady_clock;

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : file.substr(0, slash);
}

// Returns the final target of a link; empty if the link is broken.
std::string real_path(const std::string& file) {
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(file.c_str(), nullptr), &std::free);
  return path == nullptr ? std::string() : std::string(path.get());
}

int milliseconds_until(Steady::time_point then, Steady::time_point now) {
  if (then <= now) return 0;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(then - now).count());
}

}  // namespace

FileWatch::FileWatch(WatchTimes times)
    : times_(times),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      requests_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (requests_ < 0)
    throw std::system_error(errno, std::generic_category(), "no descriptor for watching files");
}

FileWatch::~FileWatch() {
  if (inotify_ >= 0) ::close(inotify_);
  ::close(requests_);
}

void FileWatch::watch(const std::vector<WatchedFile>& files) {
  std::map<std::string, Held> held;
  for (const auto& [path, digest] : files) {
    const auto known = held_.find(path);
    if (known != held_.end()) {
      held[path] = known->second;
    } else {
      held[path] = {digest.empty() ? net::digest_of_files({&path, 1}) : digest};
    }
  }
  held_ = std::move(held);
  watch_folders();
}

// Registers all folders each time: a folder that was created again is a different one for the kernel.
// Registering a known folder again changes nothing.
void FileWatch::watch_folders() {
  if (inotify_ < 0) return;
  std::set<std::string> folders;
  for (const auto& [file, content] : held_) {
    folders.insert(folder_of(file));
    const std::string real = real_path(file);
    if (real.empty()) continue;
    folders.insert(folder_of(real));
    // Watches the path itself if it is a folder. For other files, IN_ONLYDIR makes inotify_add_watch fail.
    folders.insert(real);
  }
  constexpr std::uint32_t what = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                                 IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  // Old folders stay registered until the program ends. They only cause a needless check.
  for (const std::string& folder : folders) ::inotify_add_watch(inotify_, folder.c_str(), what);
}

bool FileWatch::look() {
  bool differs = false;
  for (auto& [file, held] : held_) {
    // Some files, such as the system's root certificates, are long. A file is therefore read only if its
    // stamp (inode, size and times) has changed. The stamp is taken before the file is read, so that the next
    // check detects a write that happens in between.
    const auto stamp = net::stamp_of_unchanged_file(file, net::Clock::wall_nanoseconds());
    if (stamp && stamp == held.stamp) continue;
    // Without a free descriptor the content is unknown; a later check finds the change.
    std::optional<std::string> now = net::digest_of_file(file);
    if (!now) continue;
    held.stamp = stamp;
    if (*now == held.digest) continue;
    held.digest = std::move(*now);
    differs = true;
  }
  return differs;
}

bool FileWatch::drain_events() const {
  alignas(inotify_event) std::array<char, 4096> events{};
  bool any = false;
  while (::read(inotify_, events.data(), events.size()) > 0) any = true;
  return any;
}

// Returns how many `ask` calls were made. Also records whether `stop` was called.
unsigned FileWatch::take_requests() {
  std::uint64_t requests = 0;
  if (::read(requests_, &requests, sizeof requests) != sizeof requests) return 0;
  if (requests >= stop_request) stopped_ = true;
  return static_cast<unsigned>(requests % stop_request);
}

FileWatch::Woken FileWatch::wait() {
  // A link may have got a new target since the last call. From now on, the folder of the new target is
  // watched. The first check detects a change that happened earlier.
  watch_folders();
  bool events_pending = true;
  Steady::time_point first = Steady::now();  // time of the first event since the last check
  Steady::time_point last = first;
  Steady::time_point next_look = first + times_.look;
  while (!stopped_) {
    const auto now = Steady::now();
    const auto due =
        events_pending ? std::min({last + times_.quiet, first + times_.most, next_look}) : next_look;
    std::array<pollfd, 2> sources{{{requests_, POLLIN, 0}, {inotify_, POLLIN, 0}}};
    ::poll(sources.data(), sources.size(), milliseconds_until(due, now));
    const unsigned asked = take_requests();
    if (stopped_) return Woken::stopped;
    if (asked > 0) {
      look();
      return Woken::asked;
    }
    const auto after = Steady::now();
    if (inotify_ >= 0 && drain_events()) {
      if (!events_pending) first = after;
      events_pending = true;
      last = after;
      if (after - first < times_.most) continue;
    }
    if (after < due) continue;
    if (look()) return Woken::changed;
    watch_folders();
    events_pending = false;
    next_look = after + times_.look;
  }
  return Woken::stopped;
}

void FileWatch::ask() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(requests_, &one, sizeof one);
}

void FileWatch::stop() {
  [[maybe_unused]] const ssize_t written = ::write(requests_, &stop_request, sizeof stop_request);
}

}  // namespace reprise::server
