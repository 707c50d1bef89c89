// A process that runs out of descriptors, for a while.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace reprise::play {

// The undefined behaviour sanitizer opens a pipe to see whether an object is there: without a descriptor it
// takes a sound one for broken.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitizer_needs_descriptors = true;
#elif defined(__has_feature)
inline constexpr bool sanitizer_needs_descriptors = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif

/// Lets this process open only so many descriptors more, until it is destroyed.
class ScarceDescriptors {
 public:
  explicit ScarceDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // The limit is on the number itself: everything below it is filled first.
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    const rlimit scarce{static_cast<rlim_t>(lowest) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &scarce);
  }
  ~ScarceDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  ScarceDescriptors(const ScarceDescriptors&) = delete;
  ScarceDescriptors& operator=(const ScarceDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace reprise::play
