#include "proxy/server/cgroup/fit.hpp"

#include <algorithm>
#include <cmath>

#include "config/keys/scalar.hpp"

namespace reprise::server {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;

// A key that limits the memory for one purpose.
struct MemoryKey {
  const char* path;
  const char* purpose;
  bool is_in_file;
};

// Warns of each route whose `replay.memory` exceeds the lowered `limits.replay_memory`. The warning states
// the lowered value too, because no configuration file contains it.
void fit_routes(const policy::RouteTable* routes, Fitted& fitted) {
  for (std::size_t i = 0; routes != nullptr && i < routes->size(); ++i) {
    const policy::Route& route = (*routes)[i];
    if (route.policy.mode == policy::Mode::off ||
        route.policy.replay_memory_bytes <= fitted.replay_memory_bytes)
      continue;
    fitted.warnings.push_back(
        {"routes." + route.name,
         "replay.memory is " + config::size_text(route.policy.replay_memory_bytes) +
             " per request, but the memory limit of this control group lowers limits.replay_memory to " +
             config::size_text(fitted.replay_memory_bytes) +
             ": a body whose size is between the two is not held (not_replayable)"});
  }
}

// Lowers `bytes`, the value of the key, to the share of the control group's memory. If the configuration file
// sets the key, warns instead.
void fit_memory(const MemoryKey& key, std::size_t& bytes, const Limits& limits, Fitted& fitted) {
  if (!limits.memory_bytes) return;
  const std::size_t share = memory_share(*limits.memory_bytes);
  if (bytes <= share) return;
  const std::string limit =
      config::size_text(*limits.memory_bytes) + " of memory (" + limits.memory_file + ")";
  if (key.is_in_file) {
    fitted.warnings.push_back({key.path, config::size_text(bytes) + " for " + key.purpose +
                                             " is more than a quarter of the limit of this control group, " +
                                             limit +
                                             "; the kernel may end a process that exceeds the limit: write " +
                                             config::size_text(share) + " or less, or raise that limit"});
    return;
  }
  fitted.notes.push_back({key.path, "is " + config::size_text(share) + " instead of " +
                                        config::size_text(bytes) + ": a quarter of " + limit +
                                        "; a value that is set in the file is not lowered"});
  bytes = share;
}

void fit_threads(unsigned threads, const Limits& limits, Fitted& fitted) {
  if (!limits.cpus) return;
  // Never warns about a single thread, however small the CPU limit.
  const double useful = std::max(1.0, std::ceil(*limits.cpus));
  if (static_cast<double>(threads) <= useful) return;
  fitted.warnings.push_back({"threads", std::to_string(threads) + " threads share " +
                                            cpus_text(*limits.cpus) + " (" + limits.cpu_file +
                                            "), and all of them pause when that time is used up: write " +
                                            config::number_text(useful) + ", or raise that limit"});
}

}  // namespace

std::size_t memory_share(std::uint64_t memory_bytes) {
  return static_cast<std::size_t>(std::max(mebibyte, memory_bytes / 4 / mebibyte * mebibyte));
}

Fitted fit(const config::Settings& settings, const SetInFile& in_file, const Limits& limits) {
  Fitted fitted;
  fitted.replay_memory_bytes = settings.limits.replay_memory_bytes;
  fitted.stream_memory_bytes = settings.limits.stream_memory_bytes;
  fit_memory({"limits.replay_memory", "held request bodies", in_file.replay_memory},
             fitted.replay_memory_bytes, limits, fitted);
  fit_memory({"limits.stream_memory", "the streams of HTTP/2", in_file.stream_memory},
             fitted.stream_memory_bytes, limits, fitted);
  if (fitted.replay_memory_bytes < settings.limits.replay_memory_bytes)
    fit_routes(settings.routes.get(), fitted);
  fit_threads(settings.threads, limits, fitted);
  return fitted;
}

}  // namespace reprise::server
