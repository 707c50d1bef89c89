// Replaces the kernel timer (timerfd) that wakes Asio for its timers, in programs that play stories. Virtual
// time does not pass by itself, so the timer is due at once or never.
//
// A real timerfd would work too, but setting it took a third of the time of a story.
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

// The following functions replace those of the C library, which declares them noexcept.
extern "C" int timerfd_create(clockid_t, int) noexcept { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

extern "C" int timerfd_settime(int fd, int flags, const itimerspec*, itimerspec*) noexcept {
  // Asio sets an absolute time in the past if a timer is due, else a relative time.
  const bool is_due = (flags & TFD_TIMER_ABSTIME) != 0;
  std::uint64_t count = 1;
  if (is_due) return ::write(fd, &count, sizeof count) == sizeof count ? 0 : -1;
  // EAGAIN: nothing to clear, because the timer was not due.
  return ::read(fd, &count, sizeof count) == sizeof count || errno == EAGAIN ? 0 : -1;
}
