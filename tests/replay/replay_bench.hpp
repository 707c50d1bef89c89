// Fixture for tests of replay: a store with a scripted disk and a log that tests can read.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "proxy/forward/replay/replay_store.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/scripted_disk.hpp"

namespace reprise::forward {

using play::OwnFolder;

/// A ReplayStore and the parts that it needs. Members are declared in the order of construction.
struct StoreBench {
  explicit StoreBench(std::uint64_t memory = 1 << 20, std::uint64_t most_on_disk = 1 << 30,
                      Duration patience = net::long_enough) {
    config::Limits limits;
    limits.replay_memory_bytes = memory;
    limits.replay_disk_bytes = most_on_disk;
    limits.replay_folder = folder.path();
    FileCalls calls = disk.calls();
    calls.patience = patience;
    store = std::make_unique<ReplayStore>(limits, std::move(calls), *metrics, *log);
  }

  ~StoreBench() {
    disk.loosen();
    store.reset();
    log.reset();
    ::close(log_file);
  }
  StoreBench(const StoreBench&) = delete;
  StoreBench& operator=(const StoreBench&) = delete;

  /// Ends the log and returns its text.
  std::string logged() {
    log.reset();
    std::ifstream file(folder.path() + "/log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// Returns true if the whole allowance is free.
  static bool is_free(ReplayAllowance& allowance, std::uint64_t whole) {
    if (!allowance.take(whole)) return false;
    allowance.give_back(whole);
    return true;
  }
  double gauge(const std::string& medium) const { return of_store("reprise_replay_bytes", medium); }
  double limit(const std::string& medium) const { return of_store("reprise_replay_limit_bytes", medium); }
  double of_store(const std::string& name, const std::string& medium) const {
    const std::string series = "\n" + name + "{store=\"" + medium + "\"} ";
    const std::string page = metrics->text();
    return std::strtod(page.c_str() + page.find(series) + series.size(), nullptr);
  }

  OwnFolder folder;
  play::ScriptedDisk disk;
  std::unique_ptr<telemetry::Metrics> metrics = net::make_metrics();
  int log_file = ::open((folder.path() + "/log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  std::unique_ptr<telemetry::Log> log = std::make_unique<telemetry::Log>(
      config::Log{}, std::vector<std::string>{"default"}, log_file, telemetry::LogReader::stream);
  std::unique_ptr<ReplayStore> store;
};

}  // namespace reprise::forward
