#include "proxy/forward/replay/replay_store.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "proxy/forward/replay/replay_file.hpp"
#include "proxy/net/io/clock.hpp"

namespace reprise::forward {
namespace {

struct Sentence {
  NotHeld why;
  std::string_view text;
};
constexpr std::array<Sentence, policy::count_of<NotHeld>> sentences{{
    {NotHeld::too_long, "it is larger than replay.memory and cannot go to disk (replay.disk)"},
    {NotHeld::memory_spent, "limits.replay_memory is used up"},
    {NotHeld::disk_spent, "limits.replay_disk is used up"},
    {NotHeld::file_failed, "writing its temporary file failed"},
    {NotHeld::disk_slow, "the disk is too slow"},
}};
static_assert(policy::follows_enumerators(sentences, [](const Sentence& row) { return row.why; }));

// Returns how much memory is reserved for bodies on their way to disk: a sixteenth of the memory limit in
// whole blocks, at most four blocks. Returns 0 if the limit is small or the store has no disk.
std::uint64_t share_of_disk(const config::Limits& limits) {
  constexpr std::uint64_t block = ReplayFile::block_bytes;
  const std::uint64_t sixteenth = limits.replay_memory_bytes / 16 / block * block;
  return limits.replay_disk_bytes == 0 ? 0 : std::min(sixteenth, 4 * block);
}

}  // namespace

ReplayStore::ReplayStore(const config::Limits& limits, FileCalls calls, telemetry::Metrics& metrics,
                         telemetry::Log& log, asio::any_io_executor disk)
    : memory_(limits.replay_memory_bytes, telemetry::ReplayMedium::memory, metrics),
      disk_(limits.replay_disk_bytes, telemetry::ReplayMedium::disk, metrics),
      kept_for_disk_(share_of_disk(limits)),
      calls_(std::move(calls)),
      folder_(limits.replay_folder),
      log_(log),
      disk_executor_(std::move(disk)) {
  if (disk_executor_) return;
  thread_.emplace(1);
  disk_executor_ = thread_->get_executor();
}

void ReplayStore::set_limits(const config::Limits& limits) {
  memory_.set_most(limits.replay_memory_bytes);
  disk_.set_most(limits.replay_disk_bytes);
  kept_for_disk_.store(share_of_disk(limits), std::memory_order_relaxed);
}

void ReplayStore::log_not_held(NotHeld why, int error) {
  constexpr std::int64_t second = 1'000'000'000;
  const auto index = static_cast<std::size_t>(why);
  LogLimit& log_limit = log_limits_[index];
  const std::int64_t now = net::Clock::wall_nanoseconds();
  std::int64_t last = log_limit.second.load(std::memory_order_relaxed);
  if (now / second == last || !log_limit.second.compare_exchange_strong(last, now / second)) {
    log_limit.suppressed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::string text = "a request body is not held, so its request cannot be retried: ";
  text.append(sentences[index].text);
  if (why == NotHeld::file_failed) {
    text.append(" (limits.replay_folder: ").append(folder_).append("): ");
    text.append(std::generic_category().message(error));
  }
  const std::uint64_t suppressed = log_limit.suppressed.exchange(0, std::memory_order_relaxed);
  if (suppressed > 0)
    text.append("; ").append(std::to_string(suppressed)).append(" more since the last such message");
  const bool expected = why == NotHeld::too_long;
  log_.message(expected ? config::LogLevel::debug : config::LogLevel::warn, text, now);
}

}  // namespace reprise::forward
