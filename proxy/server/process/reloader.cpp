#include "proxy/server/process/reloader.hpp"

#include <utility>

namespace reprise::server {

Reloader::Reloader(std::function<ReloadReport()> reload, std::function<std::vector<WatchedFile>()> files,
                   WatchTimes times)
    : reload_(std::move(reload)), files_(std::move(files)), watch_(times) {
  watch_.watch(files_());
}

void Reloader::start() {
  thread_ = std::thread([this] { run(); });
}

void Reloader::ask(Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      if (done) waiting_.push_back(std::move(done));
      watch_.ask();
      return;
    }
  }
  if (done) done({false, {}, 0, {"reprise is shutting down"}});
}

void Reloader::stop() {
  watch_.stop();
  if (thread_.joinable()) thread_.join();
}

std::vector<Reloader::Done> Reloader::take_waiting() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

// Reloads once and reports the result to every caller that requested a reload before it began. A request that
// arrives during this reload waits for the next one, because the file may have changed after it was read.
void Reloader::reload_for_all() {
  const std::vector<Done> waiting = take_waiting();
  const ReloadReport report = reload_();
  watch_.watch(files_());
  for (const Done& done : waiting) done(report);
}

void Reloader::run() {
  while (watch_.wait() != FileWatch::Woken::stopped) reload_for_all();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  for (const Done& done : take_waiting()) done({false, {}, 0, {"reprise is shutting down"}});
}

}  // namespace reprise::server
