#include "proxy/telemetry/metrics/process_stats.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

#include "proxy/telemetry/metrics/metric_table.hpp"

namespace reprise::telemetry {
namespace {

std::optional<ProcessStat> read_process_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return parse_process_stat(line);
}

// Returns when the machine was booted, in seconds since 1970.
std::optional<double> read_boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::optional<double> count_descriptors() {
  const std::unique_ptr<DIR, CloseFolder> folder(opendir("/proc/self/fd"));
  if (!folder) return std::nullopt;
  double count = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count - 1;  // does not count the descriptor through which the folder is read
}

std::optional<double> descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

void append(std::vector<prometheus::MetricFamily>& to, Metric metric, std::optional<double> value) {
  if (!value) return;
  prometheus::MetricFamily& added = to.emplace_back(family(metric));
  prometheus::ClientMetric& series = added.metric.emplace_back();
  (added.type == prometheus::MetricType::Counter ? series.counter.value : series.gauge.value) = *value;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  // Field 3 (as numbered in proc(5)) follows the program's name.
  std::istringstream rest{std::string(line.substr(name_end + 1))};
  std::string state;
  rest >> state;
  constexpr int first = 4;
  constexpr int user_time = 14;
  constexpr int system_time = 15;
  constexpr int threads = 20;
  constexpr int start_time = 22;
  constexpr int resident = 24;
  ProcessStat stat;
  for (int field = first; field <= resident; ++field) {
    double value = 0;
    if (!(rest >> value)) return std::nullopt;
    if (field == user_time || field == system_time) stat.cpu_ticks += value;
    if (field == threads) stat.threads = value;
    if (field == start_time) stat.start_ticks = value;
    if (field == resident) stat.resident_pages = value;
  }
  return stat;
}

void append_process_families(std::vector<prometheus::MetricFamily>& to) {
  const std::optional<ProcessStat> stat = read_process_stat();
  if (stat) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    append(to, Metric::process_cpu, stat->cpu_ticks / ticks);
    append(to, Metric::process_resident_memory,
           stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    append(to, Metric::process_threads, stat->threads);
    if (const auto boot = read_boot_time()) {
      append(to, Metric::process_start_time, *boot + stat->start_ticks / ticks);
    }
  }
  append(to, Metric::process_open_fds, count_descriptors());
  append(to, Metric::process_max_fds, descriptor_limit());
}

}  // namespace reprise::telemetry
