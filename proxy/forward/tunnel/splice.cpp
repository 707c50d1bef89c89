#include "proxy/forward/tunnel/splice.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <optional>
#include <vector>

namespace reprise::forward {
namespace {

using Ends = SplicePipe::Ends;

// For bodies of at least this length, a pipe costs less than a copy through memory: a quarter less on
// loopback, including the setup of the pipe.
constexpr std::uint64_t worthwhile_bytes = std::uint64_t{64} * 1024;
// Number of bytes that are moved without a wait. After that, other coroutines get a turn.
constexpr std::uint64_t turn_bytes = std::uint64_t{1} << 20;
// Limit for the idle pipes of one thread. Each pipe occupies two descriptors.
constexpr std::size_t most_idle = 8;

std::atomic<int> pipes{0};

void close_pipe(Ends ends) {
  ::close(ends.read);
  ::close(ends.write);
  pipes.fetch_sub(1, std::memory_order_relaxed);
}

// Blocks SIGPIPE on a thread that has pipes. splice(2) to a reset socket raises SIGPIPE, and no flag prevents
// that.
void block_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

struct IdlePipes {
  IdlePipes() {
    ends.reserve(most_idle);
    block_sigpipe();
  }
  ~IdlePipes() {
    for (const Ends& one : ends) close_pipe(one);
  }
  IdlePipes(const IdlePipes&) = delete;
  IdlePipes& operator=(const IdlePipes&) = delete;

  std::vector<Ends> ends;
};

IdlePipes& idle_pipes() {
  thread_local IdlePipes idle;
  return idle;
}

// Returns true if less than half of the process's descriptors are in use. The kernel assigns the lowest free
// number, so the number of a new descriptor shows how many descriptors are in use.
bool leaves_room(int descriptor) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(descriptor) < limit.rlim_cur / 2;
}

// Enlarges the pipe if the system permits it. Returns true if the pipe is then large enough to be useful. All
// pipes of an unprivileged user share a limit (pipe(7)). Once the limit is reached, pipes cannot grow or are
// very small.
bool is_large(int pipe) {
  if (::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(SplicePipe::wanted_bytes)) > 0) return true;
  return ::fcntl(pipe, F_GETPIPE_SZ) >= static_cast<int>(SplicePipe::least_bytes);
}

std::optional<Ends> make_pipe() {
  if (pipes.fetch_add(1, std::memory_order_relaxed) < SplicePipe::most_pipes) {
    int made[2];
    if (::pipe2(made, O_NONBLOCK | O_CLOEXEC) == 0) {
      const Ends ends{made[0], made[1]};
      if (leaves_room(ends.write) && is_large(ends.write)) return ends;
      close_pipe(ends);
      return std::nullopt;
    }
  }
  pipes.fetch_sub(1, std::memory_order_relaxed);
  return std::nullopt;
}

std::size_t move_bytes(int from, int to, std::size_t most, ErrorCode& error) {
  constexpr unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
  // Does not set SPLICE_F_MORE, because that would delay the end of a burst for up to 200 ms. If more bytes
  // follow at once, the kernel detects this without the flag.
  ssize_t moved = 0;
  do {
    moved = ::splice(from, nullptr, to, nullptr, most, flags);
  } while (moved < 0 && errno == EINTR);
  if (moved >= 0) return static_cast<std::size_t>(moved);
  error = ErrorCode(errno, boost::system::system_category());
  return 0;
}

bool would_block(const ErrorCode& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

// Waits until the socket is readable. Returns `piece` then, even if only a FIN has arrived.
Task<net::BodyStep> wait_for_bytes(net::Stream& from, Duration limit) {
  from.limit_read(limit);
  const ErrorCode error = co_await from.wait_readable();
  from.unlimit_read();
  const bool stalled = from.take_limit_hit();
  if (!error) co_return net::BodyStep::piece;
  co_return stalled ? net::BodyStep::stalled : net::BodyStep::failed;
}

}  // namespace

SplicePipe SplicePipe::lend() {
  std::vector<Ends>& idle = idle_pipes().ends;
  if (!idle.empty()) {
    const Ends ends = idle.back();
    idle.pop_back();
    return SplicePipe(ends);
  }
  const std::optional<Ends> made = make_pipe();
  return made ? SplicePipe(*made) : SplicePipe();
}

SplicePipe::~SplicePipe() {
  if (ends_.read < 0) return;
  std::vector<Ends>& idle = idle_pipes().ends;
  if (held_ == 0 && idle.size() < most_idle) {
    idle.push_back(ends_);
  } else {
    close_pipe(ends_);
  }
}

std::size_t SplicePipe::fill(int socket, std::uint64_t most, ErrorCode& error) {
  assert(held_ == 0);
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most, wanted_bytes));
  held_ = move_bytes(socket, ends_.write, bytes, error);
  return held_;
}

std::size_t SplicePipe::drain(int socket, ErrorCode& error) {
  const std::size_t bytes = move_bytes(ends_.read, socket, held_, error);
  held_ -= bytes;
  return bytes;
}

bool may_splice(const net::BodySource::OnSocket& rest, const net::Stream* to) {
  return rest.socket != nullptr && rest.bytes >= worthwhile_bytes && to != nullptr;
}

Task<Spliced> splice(SplicePipe pipe, net::Stream& from, net::Stream& to, std::uint64_t bytes,
                     SpliceLimits limits) {
  Spliced done;
  std::uint64_t turn_ends = turn_bytes;
  while (done.bytes < bytes) {
    ErrorCode error;
    if (done.bytes < turn_ends) {
      const std::size_t taken = pipe.fill(from.descriptor(), bytes - done.bytes, error);
      done.step = error ? net::BodyStep::failed : (taken == 0 ? net::BodyStep::closed : net::BodyStep::piece);
    }
    if (done.bytes >= turn_ends || would_block(error)) {
      done.step = co_await wait_for_bytes(from, limits.read);
      turn_ends = done.bytes + turn_bytes;
    }
    if (done.step != net::BodyStep::piece) co_return done;
    while (pipe.held() > 0) {
      error.clear();
      done.bytes += pipe.drain(to.descriptor(), error);
      if (would_block(error)) error = co_await to.wait_writable(limits.write);
      done.unsent = error;
      if (error) co_return done;
    }
  }
  done.step = net::BodyStep::end;
  co_return done;
}

}  // namespace reprise::forward
