// What all requests of the process share to hold their bodies: two allowances, a folder, and the one thread
// that touches the disk.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/forward/replay/replay_allowance.hpp"
#include "proxy/forward/replay/spare_buffers.hpp"
#include "proxy/forward/replay/temporary_file.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/policy/match/enumerators.hpp"
#include "proxy/telemetry/log/access_log.hpp"

namespace reprise::forward {

/// Why a request body is no longer held. The request goes on; its retries end as `not_replayable`.
enum class NotHeld : std::uint8_t {
  too_long,      ///< over replay.memory and over what may go to disk
  memory_spent,  ///< limits.replay_memory
  disk_spent,    ///< limits.replay_disk
  file_failed,   ///< the temporary file could not be made, written or read
  disk_slow,     ///< the disk did not take, or give, a piece in time
};

/// Thread-safe. Outlives every session; `stop` comes before the io threads' contexts end.
class ReplayStore {
 public:
  /// With a thread of its own for the disk, or with what runs its jobs in order instead.
  ReplayStore(const config::Limits&, FileCalls, telemetry::Metrics&, telemetry::Log&,
              asio::any_io_executor disk = {});

  /// See FileCalls.
  policy::Duration patience() const { return calls_.patience; }
  policy::Duration long_patience() const { return calls_.long_patience; }

  /// How much may be held from now on. The folder stays.
  void set_limits(const config::Limits&);

  ReplayAllowance& memory() { return memory_; }
  /// What bodies that are held in memory leave of it, so that others can still be written to disk.
  std::uint64_t kept_for_disk() const { return kept_for_disk_.load(std::memory_order_relaxed); }
  ReplayAllowance& disk() { return disk_; }
  SpareBuffers& spare_buffers() { return spare_buffers_; }
  std::shared_ptr<TemporaryFile> make_file() { return std::make_shared<TemporaryFile>(calls_, folder_); }

  /// Runs the job on the disk thread, after all jobs before it. After `stop` it is dropped unrun.
  template <typename Job>
  void on_disk_thread(Job job) {
    asio::post(disk_executor_, std::move(job));
  }
  /// Waits for the jobs under way.
  void stop() {
    if (thread_) thread_->join();
  }

  /// One log line, at most one a second for each cause: a full
  /// disk must not flood the log. `error` is an errno, or 0.
  void tell(NotHeld why, int error = 0);

 private:
  struct Told {
    std::atomic<std::int64_t> second{0};
    std::atomic<std::uint64_t> untold{0};
  };

  ReplayAllowance memory_;
  ReplayAllowance disk_;
  SpareBuffers spare_buffers_;
  std::atomic<std::uint64_t> kept_for_disk_{0};
  const FileCalls calls_;
  const std::string folder_;
  telemetry::Log& log_;
  std::array<Told, policy::count_of<NotHeld>> told_;  ///< by NotHeld
  std::optional<asio::thread_pool> thread_;
  asio::any_io_executor disk_executor_;
};

}  // namespace reprise::forward
