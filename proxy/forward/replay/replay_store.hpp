// The state that all held request bodies share: the limits of memory and disk, the folder, and the disk
// thread.
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

/// Why a request body can no longer be held. The request continues, and its retries end with
/// `not_replayable`.
enum class NotHeld : std::uint8_t {
  too_long,      ///< longer than `replay.memory`, and not allowed on disk or too long for it
  memory_spent,  ///< limits.replay_memory is reached
  disk_spent,    ///< limits.replay_disk is reached
  file_failed,   ///< the temporary file could not be created, written or read
  disk_slow,     ///< the disk took too long to write or read a piece of the body
};

/// Thread-safe. Outlives every session. Call `stop` before the contexts of the io threads end.
class ReplayStore {
 public:
  /// `disk`: runs the jobs in order; if absent, the store creates a thread of its own.
  ReplayStore(const config::Limits&, FileCalls, telemetry::Metrics&, telemetry::Log&,
              asio::any_io_executor disk = {});

  /// Returns FileCalls::patience.
  policy::Duration patience() const { return calls_.patience; }
  policy::Duration long_patience() const { return calls_.long_patience; }

  /// Applies new limits. The folder does not change.
  void set_limits(const config::Limits&);

  ReplayAllowance& memory() { return memory_; }
  /// Returns how many bytes of the memory limit bodies in memory must leave free. Bodies that are written to
  /// disk need these bytes as buffers.
  std::uint64_t kept_for_disk() const { return kept_for_disk_.load(std::memory_order_relaxed); }
  ReplayAllowance& disk() { return disk_; }
  SpareBuffers& spare_buffers() { return spare_buffers_; }
  std::shared_ptr<TemporaryFile> make_file() { return std::make_shared<TemporaryFile>(calls_, folder_); }

  /// Runs the job on the disk thread, after all earlier jobs. Discards the job if `stop` was called before.
  template <typename Job>
  void on_disk_thread(Job job) {
    asio::post(disk_executor_, std::move(job));
  }
  /// Waits for the pending jobs.
  void stop() {
    if (thread_) thread_->join();
  }

  /// Logs the cause, at most once a second for each cause, so that a full disk does not flood the log.
  /// `error`: an errno, or 0.
  void log_not_held(NotHeld why, int error = 0);

 private:
  struct LogLimit {
    std::atomic<std::int64_t> second{0};
    std::atomic<std::uint64_t> suppressed{0};
  };

  ReplayAllowance memory_;
  ReplayAllowance disk_;
  SpareBuffers spare_buffers_;
  std::atomic<std::uint64_t> kept_for_disk_{0};
  const FileCalls calls_;
  const std::string folder_;
  telemetry::Log& log_;
  std::array<LogLimit, policy::count_of<NotHeld>> log_limits_;  ///< indexed by NotHeld
  std::optional<asio::thread_pool> thread_;
  asio::any_io_executor disk_executor_;
};

}  // namespace reprise::forward
