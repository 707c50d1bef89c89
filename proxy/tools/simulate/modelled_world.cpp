#include "proxy/tools/simulate/modelled_world.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::tools {
namespace {

using policy::Responded;

enum Known : std::uint16_t { ok, overloaded, limited, others };

// Time until an attempt fails if no worker serves it, for example because the upstream rejects it.
constexpr Duration rejection_time = std::chrono::milliseconds(1);

Duration since_start(Instant now) { return now.time_since_epoch(); }

// Converts seconds to a duration. Limits the duration to 1e8 seconds, which is longer than any run, so that
// the conversion does not overflow.
Duration seconds_of(double seconds) {
  return Duration(static_cast<Duration::rep>(std::min(seconds, 1e8) * 1e9));
}

}  // namespace

ModelledWorld::ModelledWorld(const Model& model)
    : model_(model),
      arriving_(seed_of(model.seed, 1)),
      mixing_(seed_of(model.seed, 2)),
      working_(seed_of(model.seed, 3)),
      failing_(seed_of(model.seed, 4)) {
  Responded rate_limited{429, {}};
  if (model.limit) {
    rate_limited.hints.retry_after = model.limit->retry_after;
    tokens_ = std::max(1.0, model.limit->per_second);
  }
  outcomes_ = {Responded{200, {}}, Responded{503, {}}, rate_limited};
  for (const Outage& outage : model.outages) outcomes_.push_back(outage.trouble.outcome);
  first_error_ = outcomes_.size();
  for (const ErrorShare& error : model.errors) outcomes_.push_back(error.trouble.outcome);
  for (const Burst& burst : model.bursts) bursts_.insert(bursts_.end(), burst.requests, Instant{} + burst.at);
  std::sort(bursts_.begin(), bursts_.end(), std::greater<>());
  coming_ = next_of_rate();
}

// Returns the time of the next request that is not part of a burst. The times of evenly spaced requests are
// computed from the number of requests so far, so that rounding errors do not accumulate.
std::optional<Instant> ModelledWorld::next_of_rate() {
  if (model_.rate <= 0) return std::nullopt;
  ++count_;
  if (model_.arrivals == Arrivals::even) {
    last_ = Instant{} + seconds_of(static_cast<double>(count_ - 1) / model_.rate);
  } else {
    last_ += seconds_of(arriving_.exponential() / model_.rate);
  }
  return since_start(last_) < model_.duration ? std::optional(last_) : std::nullopt;
}

std::optional<Arrival> ModelledWorld::next() {
  Arrival arrival;
  if (!bursts_.empty() && (!coming_ || bursts_.back() <= *coming_)) {
    arrival.at = bursts_.back();
    bursts_.pop_back();
  } else if (coming_) {
    arrival.at = *coming_;
    coming_ = next_of_rate();
  } else {
    return std::nullopt;
  }
  double left = mixing_.uniform();
  while (arrival.kind + 1 < model_.mix.size() && left >= model_.mix[arrival.kind].share)
    left -= model_.mix[arrival.kind++].share;
  arrival.client = static_cast<std::uint32_t>(mixing_.uniform() * static_cast<double>(model_.clients));
  return arrival;
}

AttemptStart ModelledWorld::reply(const Ticket& ticket, std::uint16_t outcome, Instant now,
                                  EventQueue& events) const {
  const Instant ends = now + rejection_time;
  events.push({Event::Kind::reply, outcome, ticket, ends});
  return {ends};
}

AttemptStart ModelledWorld::meet(const Trouble& trouble, std::uint16_t outcome, const Ticket& ticket,
                                 Instant now, EventQueue& events) const {
  return trouble.hangs ? AttemptStart{} : reply(ticket, outcome, now, events);
}

bool ModelledWorld::is_over_limit(Instant now) {
  if (!model_.limit) return false;
  const double rate = model_.limit->per_second;
  const double passed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = std::min(std::max(1.0, rate), tokens_ + passed * rate);
  filled_ = now;
  if (tokens_ < 1) return true;
  tokens_ -= 1;
  return false;
}

const ErrorShare* ModelledWorld::draw_error() {
  if (model_.errors.empty()) return nullptr;
  double left = failing_.uniform();
  for (const ErrorShare& error : model_.errors) {
    if (left < error.share) return &error;
    left -= error.share;
  }
  return nullptr;
}

Instant ModelledWorld::serve(const Queued& queued, Instant now, EventQueue& events) {
  const Instant ends = now + model_.latency.draw(working_);
  events.push({Event::Kind::served, queued.outcome, queued.ticket, ends});
  return ends;
}

// Rejects an attempt because the queue is full. Later, the rejection also occupies a worker for some time. If
// too many rejections already wait for a worker, this rejection occupies none, as if the kernel had rejected
// the attempt.
AttemptStart ModelledWorld::reject(const Ticket& ticket, Instant now, EventQueue& events,
                                   Measures& measures) {
  ++measures.refused;
  if (model_.refusal > Duration::zero() &&
      refusals_ < std::max<std::uint64_t>(model_.queue, *model_.capacity))
    ++refusals_;
  return reply(ticket, overloaded, now, events);
}

AttemptStart ModelledWorld::begin(const Ticket& ticket, const Arrival&, unsigned, Instant now,
                                  EventQueue& events, Measures& measures) {
  for (std::size_t i = 0; i < model_.outages.size(); ++i) {
    if (model_.outages[i].covers(since_start(now)))
      return meet(model_.outages[i].trouble, static_cast<std::uint16_t>(others + i), ticket, now, events);
  }
  if (is_over_limit(now)) {
    ++measures.limited;
    return reply(ticket, limited, now, events);
  }
  std::uint16_t outcome = ok;
  if (const ErrorShare* error = draw_error()) {
    outcome =
        static_cast<std::uint16_t>(first_error_ + static_cast<std::size_t>(error - model_.errors.data()));
    const auto* failed = std::get_if<policy::Failed>(&error->trouble.outcome);
    const bool unsent = failed != nullptr && failed->stage < policy::Stage::send;
    if (error->trouble.hangs || unsent) return meet(error->trouble, outcome, ticket, now, events);
  }
  if (!model_.capacity) return {serve({ticket, outcome}, now, events)};
  if (busy_ < *model_.capacity) {
    ++busy_;
    return {serve({ticket, outcome}, now, events)};
  }
  if (queue_.size() >= model_.queue) return reject(ticket, now, events, measures);
  queue_.push_back({ticket, outcome});
  return {};
}

// Gives a free worker its next work: pending rejections first, then queued requests.
void ModelledWorld::free_worker(Instant now, EventQueue& events) {
  if (!model_.capacity) return;
  if (refusals_ > 0) {
    --refusals_;
    events.push({Event::Kind::refusal, 0, {}, now + model_.refusal});
  } else if (!queue_.empty()) {
    serve(queue_.front(), now, events);
    queue_.pop_front();
  } else {
    --busy_;
  }
}

}  // namespace reprise::tools
