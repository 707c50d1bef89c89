// Preloaded library (LD_PRELOAD) that delays each pwrite(2) of a process by 100 ms.

#include <dlfcn.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>

namespace {

using PositionedWrite = ssize_t (*)(int, const void*, std::size_t, off_t);

ssize_t write_slowly(const char* name, int descriptor, const void* bytes, std::size_t count, off_t offset) {
  const timespec pause{0, 100'000'000};
  ::nanosleep(&pause, nullptr);
  const auto real = reinterpret_cast<PositionedWrite>(::dlsym(RTLD_NEXT, name));
  return real(descriptor, bytes, count, offset);
}

}  // namespace

extern "C" ssize_t pwrite(int descriptor, const void* bytes, std::size_t count, off_t offset) {
  return write_slowly("pwrite", descriptor, bytes, count, offset);
}

extern "C" ssize_t pwrite64(int descriptor, const void* bytes, std::size_t count, off_t offset) {
  return write_slowly("pwrite64", descriptor, bytes, count, offset);
}
