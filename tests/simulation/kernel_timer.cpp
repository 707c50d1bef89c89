// The kernel's timer by which Asio has itself woken for its own timers, in a program that plays stories: no
// time passes by itself there, and so it is due at once or never.
//
// A timer of the kernel would do the same, and did; setting it took a third of the time of a story.
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

// They stand in for the C library's, whose declarations say noexcept.
extern "C" int timerfd_create(clockid_t, int) noexcept { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

extern "C" int timerfd_settime(int fd, int flags, const itimerspec*, itimerspec*) noexcept {
  // Asio asks for a moment that is past where something is due, and else for a time from now.
  const bool is_due = (flags & TFD_TIMER_ABSTIME) != 0;
  std::uint64_t count = 1;
  if (is_due) return ::write(fd, &count, sizeof count) == sizeof count ? 0 : -1;
  // With nothing to read it was not due before, either.
  return ::read(fd, &count, sizeof count) == sizeof count || errno == EAGAIN ? 0 : -1;
}
