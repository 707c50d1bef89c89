#include "proxy/server/trace_export/export_loop.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

namespace reprise::server {
namespace {

int duplicate(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::system_error(errno, std::generic_category(), "dup");
  return copy;
}

}  // namespace

SpanExporter::Loop::Loop(SpanExporter& all, net::Resolver& resolver, telemetry::Log& log,
                         const telemetry::TraceResource& resource,
                         std::function<std::string(std::uint64_t)> id_of, std::uint64_t seed,
                         const ExportTimes& times)
    : all_(all),
      log_(log),
      id_of_(std::move(id_of)),
      times_(times),
      dice_(seed),
      json_(resource, dice_),
      bell_(io_, duplicate(all.queues_.bell().open())),
      client_(tick_, io_.get_executor(), resolver, resource.version, resource.instance) {}

// Destroys suspended coroutines first, while the objects that they use still exist.
SpanExporter::Loop::~Loop() { io_.destroy_handlers(); }

void SpanExporter::Loop::run() {
  // Gives this thread a lower priority than the threads that serve requests. In Linux, setpriority affects
  // only the calling thread.
  constexpr int second_to_requests = 10;
  ::setpriority(PRIO_PROCESS, 0, second_to_requests);
  asio::co_spawn(io_, watch_bell(), or_abort);
  asio::co_spawn(io_, work(), or_abort);
  io_.run();
}

// Wakes `work` at each event on the eventfd `bell_`. Starts the time limit of the shutdown after `finish` was
// called.
Task<void> SpanExporter::Loop::watch_bell() {
  bool ending = false;
  for (;;) {
    co_await bell_.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
    eventfd_t ignored = 0;
    ::eventfd_read(bell_.native_handle(), &ignored);
    if (all_.finishing_ && !std::exchange(ending, true)) {
      if (all_.at_once_) io_.stop();
      last_.expires_after(times_.last);
      last_.async_wait([this](const ErrorCode& error) {
        if (!error) io_.stop();
      });
    }
    if (std::exchange(seen_changes_, all_.changes_.load()) != seen_changes_) client_.cancel();
    timer_.cancel();
  }
}

Task<void> SpanExporter::Loop::work() {
  while (!all_.finishing_) {
    co_await wait_for_requests();
    co_await deliver_all();
  }
  co_await deliver_all();
  io_.stop();
}

Task<void> SpanExporter::Loop::sleep_until(Instant due) {
  timer_.expires_at(due);
  co_await timer_.async_wait(as_result);
}

// Waits until a batch can be sent: `ExportTimes::batch` has passed since its first request finished, or a
// queue is half full.
Task<void> SpanExporter::Loop::wait_for_requests() {
  telemetry::SpanBell& bell = all_.queues_.bell();
  constexpr auto long_time = std::chrono::hours(1);
  while (!all_.finishing_ && !bell.rung()) co_await sleep_until(net::Tick::now() + long_time);
  const Instant due = net::Tick::now() + times_.batch;
  while (!all_.finishing_ && !bell.pressed() && net::Tick::now() < due) co_await sleep_until(due);
  bell.reset();
}

Task<void> SpanExporter::Loop::deliver_all() {
  while (take_batch()) co_await deliver();
}

// Takes spans from the queues in turn, so that the spans of each io thread get their share.
bool SpanExporter::Loop::take_batch() {
  json_.begin();
  telemetry::SpanQueues& queues = all_.queues_;
  for (std::size_t empty = 0; empty < queues.size() && json_.spans() < batch_spans;) {
    auto queued = queues.of(next_queue_++ % queues.size()).pop();
    if (!queued) {
      ++empty;
      continue;
    }
    empty = 0;
    telemetry::HistoryEntry& story = queued->story;
    story.route_name = log_.route_name(story.route);
    if (story.number != 0) story.id = id_of_(story.number);
    json_.add(story, queued->random);
  }
  in_hand_ = json_.spans();
  body_ = json_.end();
  return in_hand_ > 0;
}

Task<void> SpanExporter::Loop::deliver() {
  for (unsigned tries = 1; in_hand_ > 0; ++tries) {
    if (failures_ > 0 && !all_.finishing_) co_await pause(asked_pause_);
    // A try that begins during the shutdown is the last one for the batch. An earlier try that only ends
    // during the shutdown does not count as the last.
    const bool is_last_try = all_.finishing_;
    const std::uint64_t changes = all_.changes_;
    const auto collector = wanted();
    if (!collector) co_return drop(telemetry::SpanDrop::switched_off);
    const Posted posted = co_await client_.post(*collector, body_, times_.post);
    if (changes != all_.changes_ || posted.end == Posted::End::cancelled) {
      // The collector was changed: the retries start from zero.
      failures_ = tries = 0;
      if (posted.end != Posted::End::responded) continue;
    }
    settle(posted, decide(posted, tries, is_last_try ? 1 : times_.tries, in_hand_), *collector);
    if (is_last_try && failures_ > 0) co_return drop_all(telemetry::SpanDrop::shutting_down);
  }
}

// Applies the decision to the batch, and sets the pause before the next post.
void SpanExporter::Loop::settle(const Posted& posted, const Decision& decision,
                                const config::Collector& collector) {
  log_result(posted, decision, collector);
  if (is_temporary(posted)) {
    waited_ = policy::draw_wait(times_.backoff, failures_, waited_, dice_);
    asked_pause_ = std::max(waited_, posted.retry_after.value_or(Duration::zero()));
    ++failures_;
  } else {
    failures_ = 0;
  }
  if (decision.kind == Decision::Kind::dropped) drop(decision.cause);
  if (decision.kind != Decision::Kind::taken) return;
  const std::uint64_t rejected = std::min(decision.rejected, in_hand_);
  all_.metrics_.count_spans(in_hand_ - rejected);
  if (rejected > 0) all_.metrics_.count_dropped_spans(telemetry::SpanDrop::rejected, rejected);
  in_hand_ = 0;
}

// Waits for the time `span`. A new collector or the shutdown ends the wait early.
Task<void> SpanExporter::Loop::pause(Duration span) {
  const std::uint64_t changes = all_.changes_;
  const Instant due = net::Tick::now() + span;
  while (!all_.finishing_ && changes == all_.changes_ && net::Tick::now() < due) co_await sleep_until(due);
}

void SpanExporter::Loop::drop(telemetry::SpanDrop cause) {
  all_.metrics_.count_dropped_spans(cause, std::exchange(in_hand_, 0));
}

void SpanExporter::Loop::drop_all(telemetry::SpanDrop cause) {
  if (in_hand_ > 0) drop(cause);
  telemetry::SpanQueues& queues = all_.queues_;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    while (const auto queued = queues.of(i).pop())
      all_.metrics_.count_dropped_spans(cause, 1 + queued->story.attempts.size());
  }
}

// Logs each kind of failure once, and logs once that the failures are over.
void SpanExporter::Loop::log_result(const Posted& posted, const Decision& decision,
                                    const config::Collector& collector) {
  const bool fine = decision.kind == Decision::Kind::taken && decision.rejected == 0;
  const std::string kind =
      fine ? "" : std::to_string(static_cast<int>(posted.end)) + "/" + std::to_string(posted.status);
  if (kind == std::exchange(trouble_, kind)) return;
  const std::string where =
      "trace.otlp, " + collector.host + " port " + std::to_string(collector.port) + collector.path + ": ";
  if (fine) return log_message(config::LogLevel::info, where + "the collector accepts spans again");
  const std::string lost = "; lost spans are counted in reprise_trace_dropped_total";
  if (decision.kind == Decision::Kind::taken)
    return log_message(config::LogLevel::warn,
                       where + "the collector rejects some spans: " + words_of(posted) + lost);
  log_message(config::LogLevel::warn, where + "spans are not delivered: " + words_of(posted) + lost);
}

void SpanExporter::Loop::log_message(config::LogLevel level, const std::string& text) {
  log_.message(level, text, net::Clock::wall_nanoseconds());
}

std::optional<config::Collector> SpanExporter::Loop::wanted() {
  const std::lock_guard lock(all_.mutex_);
  return all_.wanted_;
}

}  // namespace reprise::server
