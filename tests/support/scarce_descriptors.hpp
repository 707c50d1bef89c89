// Makes this process run out of descriptors for a while.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace reprise::play {

// The undefined behaviour sanitizer opens a pipe to check whether an object's memory is readable. Without a
// free descriptor, the sanitizer reports a valid object as broken.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitizer_needs_descriptors = true;
#elif defined(__has_feature)
inline constexpr bool sanitizer_needs_descriptors = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif

/// Allows this process to open only `more` further descriptors, until this object is destroyed.
class ScarceDescriptors {
 public:
  explicit ScarceDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // RLIMIT_NOFILE limits the highest descriptor number, not the number of open descriptors. The limit is
    // therefore counted from the lowest free number.
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    limit_ = static_cast<rlim_t>(lowest) + more;
    set(limit_);
  }
  ~ScarceDescriptors() { set(before_.rlim_cur); }

  /// Makes every open fail, even after another descriptor is closed, as if another thread always took it
  /// first.
  void withhold_what_is_closed() const { set(1); }
  /// Counts the open descriptors below the limit. Opens no descriptor itself.
  int open_now() const {
    int open = 0;
    for (int each = 0; each < static_cast<int>(limit_); ++each)
      if (::fcntl(each, F_GETFD) >= 0) ++open;
    return open;
  }
  ScarceDescriptors(const ScarceDescriptors&) = delete;
  ScarceDescriptors& operator=(const ScarceDescriptors&) = delete;

 private:
  void set(rlim_t soft) const {
    const rlimit limit{soft, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  rlimit before_{};
  rlim_t limit_ = 0;
};

}  // namespace reprise::play
