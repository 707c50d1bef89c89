// Preloaded library (LD_PRELOAD) that adds an offset to the wall clock of a process. It does not change the
// steady clock. The variable STEPPING_WALL_CLOCK names a file of 8 bytes with the offset in nanoseconds.
// The file is mapped, so writing to it steps the clock of a running process.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using Offset = std::atomic<std::int64_t>;
using ClockGettime = int (*)(clockid_t, timespec*);

const Offset* map_offset() {
  const char* name = std::getenv("STEPPING_WALL_CLOCK");
  const int file = name == nullptr ? -1 : ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped = ::mmap(nullptr, sizeof(Offset), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Offset*>(mapped);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = reinterpret_cast<ClockGettime>(::dlsym(RTLD_NEXT, "clock_gettime"));
  static const Offset* const offset = map_offset();
  const int result = real(clock, time);
  if (result != 0 || clock != CLOCK_REALTIME || offset == nullptr) return result;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t moment = time->tv_sec * second + time->tv_nsec + offset->load(std::memory_order_relaxed);
  time->tv_sec = moment / second;
  time->tv_nsec = moment % second;
  return 0;
}
