#include "proxy/telemetry/log/line_queue.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace reprise::telemetry {
namespace {

// The writer thread writes the queued lines at this interval. After an interval without lines, it sleeps
// until a caller wakes it. So a caller wakes it only after such an interval, or when the queue fills fast.
constexpr std::chrono::milliseconds batch_interval{10};
constexpr std::chrono::seconds shutdown_limit{1};
// Time that the destructor waits for the writer thread after `give_up`. The thread takes longer only if it
// hangs in a write.
constexpr std::chrono::milliseconds give_up_limit{100};

// Returns the maximum size of one write. For a pipe this is PIPE_BUF: a pipe that polls as writable takes
// that many bytes without blocking. For a regular file there is no limit.
std::size_t chunk_of(int descriptor) {
  struct stat status {};
  const bool file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  return file ? std::numeric_limits<std::size_t>::max() : std::size_t{PIPE_BUF};
}

// Blocks all signals in this thread, because other threads handle them. A write to a closed pipe then returns
// an error instead of raising SIGPIPE.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

LineQueue::State::State(int to) : descriptor(to), give_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (give_up < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

LineQueue::State::~State() { close(give_up); }

// Writes batches to the descriptor, and remembers whether the last batch ended in the middle of a line.
class LineQueue::Drain {
 public:
  explicit Drain(State& state) : state_(state), chunk_(chunk_of(state.descriptor)) {}

  void write_batch(std::string& batch) {
    // Ends a partly written line, so that the next line does not continue it.
    if (broken_line_) batch.insert(0, 1, '\n');
    const std::size_t written = write_most(batch);
    const std::string_view rest = std::string_view(batch).substr(written);
    broken_line_ = written > 0 ? batch[written - 1] != '\n' : broken_line_;
    if (rest.empty()) return;
    const auto lines = static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
    const std::uint64_t own = written == 0 && rest.front() == '\n' ? 1 : 0;
    state_.dropped.fetch_add(lines - own, std::memory_order_relaxed);
  }

 private:
  std::size_t write_most(std::string_view batch) const {
    std::size_t written = 0;
    while (written < batch.size() && await_room()) {
      const std::size_t size = std::min(chunk_, batch.size() - written);
      const ssize_t n = write(state_.descriptor, batch.data() + written, size);
      if (n >= 0) {
        written += static_cast<std::size_t>(n);
      } else if (errno != EINTR && errno != EAGAIN) {
        break;
      }
    }
    return written;
  }

  // Waits until the descriptor is writable or has an error; write() then reports the error. Returns false if
  // `give_up` ended the wait.
  bool await_room() const {
    pollfd polled[2] = {{state_.descriptor, POLLOUT, 0}, {state_.give_up, POLLIN, 0}};
    while (poll(polled, 2, -1) < 0) {
      if (errno != EINTR) return false;
    }
    return polled[0].revents != 0;
  }

  State& state_;
  const std::size_t chunk_;
  bool broken_line_ = false;
};

LineQueue::LineQueue(int descriptor)
    : state_(std::make_shared<State>(descriptor)), thread_(&LineQueue::run, state_) {}

LineQueue::~LineQueue() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->filled.notify_one();
  const auto is_done = [this] { return state_->done; };
  if (!state_->finished.wait_for(lock, shutdown_limit, is_done)) {
    eventfd_write(state_->give_up, 1);
    state_->finished.wait_for(lock, give_up_limit, is_done);
  }
  const bool done = state_->done;
  lock.unlock();
  if (done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LineQueue::run(const std::shared_ptr<State>& shared) {
  block_signals();
  const std::shared_ptr<State> state = shared;
  Drain drain(*state);
  std::string batch;
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->filled.wait_for(lock, batch_interval,
                           [&] { return state->stopping || state->filling.size() >= crowded_bytes; });
    if (state->filling.empty()) {
      if (state->stopping) break;
      state->idle = true;
      state->filled.wait(lock, [&] { return !state->filling.empty() || state->stopping; });
      state->idle = false;
      continue;
    }
    std::swap(batch, state->filling);
    lock.unlock();
    drain.write_batch(batch);
    batch.clear();
    lock.lock();
  }
  state->done = true;
  state->finished.notify_all();
}

}  // namespace reprise::telemetry
