#include "tests/soak/watched_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace reprise::soak {
namespace {

constexpr std::size_t fewest_samples = 8;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ProcessSample look_at(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  ProcessSample sample;
  std::ifstream memory(folder / "statm");
  std::int64_t pages = 0;
  if (!(memory >> pages >> pages)) throw std::runtime_error("reprise has ended");
  sample.resident_bytes = pages * sysconf(_SC_PAGESIZE);
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "fd", gone)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    ++(target.starts_with("pipe:") ? sample.pipes : sample.descriptors);
  }
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "task", gone))
    ++sample.threads;
  return sample;
}

std::int64_t growth(const std::vector<ProcessSample>& samples) {
  if (samples.size() < fewest_samples) return 0;
  std::vector<std::int64_t> early;
  std::vector<std::int64_t> late;
  const std::size_t quarter = samples.size() / 4;
  for (std::size_t i = quarter; i < 2 * quarter; ++i) early.push_back(samples[i].resident_bytes);
  for (std::size_t i = samples.size() - quarter; i < samples.size(); ++i)
    late.push_back(samples[i].resident_bytes);
  return median(late) - median(early);
}

}  // namespace reprise::soak
