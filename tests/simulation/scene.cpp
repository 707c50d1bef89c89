#include "tests/simulation/scene.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/simulation/sealed.hpp"

namespace reprise::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

policy::IdempotencyRule draw_rule(Chance& chance) {
  policy::IdempotencyRule rule;
  switch (chance.below(5)) {
    case 0: rule.kind = policy::IdempotencyRule::Kind::always; break;
    case 1:
      rule.kind = policy::IdempotencyRule::Kind::any;
      rule.conditions = {{policy::Condition::Kind::header, "Idempotency-Key", ""}};
      break;
    case 2:
      rule.kind =
          chance.one_in(3) ? policy::IdempotencyRule::Kind::never : policy::IdempotencyRule::Kind::by_method;
      break;
    default: rule.kind = policy::IdempotencyRule::Kind::by_method;
  }
  return rule;
}

policy::RetryPolicy draw_retry(Chance& chance) {
  policy::RetryPolicy retry;
  retry.on.truncated = chance.one_in(2);
  retry.max_attempts = static_cast<unsigned>(chance.between(1, 5));
  if (chance.one_in(8)) retry.max_attempts.reset();
  retry.deadline = chance.milliseconds(500, 20'000);
  if (retry.max_attempts && chance.one_in(5)) retry.deadline.reset();
  if (chance.one_in(2)) retry.attempt_timeout = chance.milliseconds(100, 2500);
  retry.out_of_time = chance.one_in(3) ? policy::OutOfTime::gateway_timeout : policy::OutOfTime::last;
  retry.backoff.initial = chance.milliseconds(1, 400);
  retry.backoff.maximum = retry.backoff.initial + chance.milliseconds(0, 4000);
  retry.backoff.jitter = chance.pick({policy::Jitter::none, policy::Jitter::full, policy::Jitter::equal,
                                      policy::Jitter::additive, policy::Jitter::decorrelated});
  retry.retry_after.honour = !chance.one_in(5);
  retry.retry_after.maximum = chance.pick({Duration(seconds(2)), Duration(seconds(60))});
  return retry;
}

// Draws predicates for errors in JSON, in XML and in a header, some of them for status 4xx only.
std::vector<policy::BodyPredicate> draw_predicates(Chance& chance) {
  std::vector<policy::BodyPredicate> all{{"", "error"},
                                         {.value = {.matches = {"Slow*"}}, .xml = "Error.Code"},
                                         {.value = {.matches = {"*Throttled*"}}, .header = "x-error"}};
  std::vector<policy::BodyPredicate> some;
  for (policy::BodyPredicate& predicate : all) {
    if (chance.one_in(4)) predicate.status = policy::StatusRange{400, 499};
    if (!chance.one_in(3)) some.push_back(std::move(predicate));
  }
  return some;
}

// Allows hundreds of attempts until the deadline: more than a ledger keeps (row L25).
void try_without_end(policy::RoutePolicy& policy) {
  policy.retry.max_attempts.reset();
  policy.retry.deadline = milliseconds(500);
  policy.retry.backoff = {milliseconds(1), 1, milliseconds(1), policy::Jitter::none};
  policy.budget.reset();
  policy.circuit.reset();
}

policy::RoutePolicy draw_policy(Chance& chance) {
  policy::RoutePolicy policy;
  const std::uint64_t mode = chance.below(12);
  if (mode == 0) policy.mode = policy::Mode::observe;
  if (mode == 1) policy.mode = policy::Mode::off;
  policy.idempotent = draw_rule(chance);
  policy.retry = draw_retry(chance);
  policy.connect_timeout = chance.milliseconds(200, 3000);
  policy.response_timeout = chance.milliseconds(1000, 8000);
  policy.idle_timeout = chance.milliseconds(1000, 8000);
  // The window is longer than any story, so the law of the budget only has to compare sums.
  policy.budget = policy::BudgetPolicy{0.2, 0.002, seconds(1000)};
  if (chance.one_in(2)) policy.budget = policy::BudgetPolicy{0.2, 0.02, seconds(1000)};
  if (chance.one_in(6)) policy.budget.reset();
  if (chance.one_in(6)) policy.hedge = policy::HedgePolicy{chance.milliseconds(20, 500)};
  if (chance.one_in(5)) {
    policy.hold.emplace();
    policy.hold->bytes = chance.pick<std::size_t>({1, 100, 2000, 20'000});
    policy.hold->time = chance.milliseconds(10, 2000);
    if (chance.one_in(2)) policy.hold->body = draw_predicates(chance);
    if (!policy.hold->body.empty() && chance.one_in(2)) policy.hold->bytes = 0;
  }
  policy.signature_sigv4 = chance.one_in(3);
  if (chance.one_in(4)) policy.retry.nested = policy::Nested::refuse;
  if (chance.one_in(8)) policy.circuit = policy::CircuitPolicy{0.5, seconds(10), 3, seconds(2)};
  policy.while_paused =
      chance.pick({policy::WhilePaused::go, policy::WhilePaused::go, policy::WhilePaused::go,
                   policy::WhilePaused::wait, policy::WhilePaused::fail});
  policy.replay_memory_bytes = chance.pick<std::size_t>({0, 100, 100, 3000, 262'144});
  policy.replay_disk_bytes = chance.pick<std::uint64_t>({0, 5000, 1 << 20, 1 << 20});
  policy.resume.enabled = !chance.one_in(4);
  policy.resume.max_attempts = static_cast<unsigned>(chance.between(1, 5));
  policy.resume.stall = chance.milliseconds(500, 3000);
  policy.response_headers =
      chance.one_in(4) ? policy::ResponseHeaders::none : policy::ResponseHeaders::outcome;
  policy.attempt_header = chance.one_in(6);
  if (chance.one_in(40)) try_without_end(policy);
  return policy;
}

RequestPlan draw_request(Chance& chance, std::uint64_t id, const policy::IdempotencyRule& rule) {
  RequestPlan request;
  request.id = id;
  request.host = chance.pick<std::string>({"a.test", "a.test", "b.test", "192.0.2.9"});
  request.method = chance.pick<std::string>({"GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD"});
  request.marked = chance.one_in(3);
  request.retries_itself = chance.one_in(8);
  if (chance.one_in(6))
    request.query = "?X-Amz-Date=20260101T000000Z&X-Amz-Signature=abc&X-Amz-Expires=" +
                    std::to_string(chance.between(1, 4));
  request.speaks_1_0 = chance.one_in(12);
  const bool carries = request.method == "POST" || request.method == "PUT" || chance.one_in(12);
  if (carries) {
    request.framing = chance.one_in(2) && !request.speaks_1_0 ? BodyFraming::chunked : BodyFraming::counted;
    request.body_bytes = chance.pick<std::uint64_t>({0, 1, 100, 101, 1000, 3000, 9000, 9000, 40'000});
    request.expects_continue = chance.one_in(5) && request.body_bytes > 0 && !request.speaks_1_0;
  }
  request.response_bytes = chance.pick<std::uint64_t>({0, 1, 300, 2000, 2000, 2000, 9000});
  request.idempotent = is_idempotent(rule, request);
  return request;
}

ClientPlan draw_client(Chance& chance, Faults& faults, std::uint64_t& next_id,
                       const policy::IdempotencyRule& rule) {
  ClientPlan client;
  const std::uint64_t requests = chance.pick<std::uint64_t>({1, 1, 1, 2, 2, 3});
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < requests; ++i) {
    client.requests.push_back(draw_request(chance, next_id++, rule));
    bytes += client.requests.back().body_bytes + client.requests.back().response_bytes + 400;
  }
  const std::uint64_t some = chance.between(0, bytes);
  const std::uint64_t others = chance.between(1, bytes);
  client.stall = chance.milliseconds(10, 12'000);
  client.pipelines = faults.plays(Fault::client_pipelines, requests > 1 && chance.one_in(2));
  if (faults.plays(Fault::client_fin, chance.one_in(8))) client.finishes_after = some / 4;
  if (faults.plays(Fault::client_reset, chance.one_in(8))) client.resets_after = others;
  if (faults.plays(Fault::client_stalls_writing, chance.one_in(8))) client.stops_writing_at = some;
  if (faults.plays(Fault::client_stalls_reading, chance.one_in(8))) client.stops_reading_at = others / 2;
  return client;
}

// Returns true if the request may be retried, judged by its head alone. Does not use the product's code (row
// F10).
bool is_repeatable(const Scene& scene, const RequestPlan& request) {
  const policy::RoutePolicy& policy = scene.policy;
  const bool to_disk = policy.retry.max_attempts != 1U &&
                       !(policy.retry.nested == policy::Nested::refuse && request.retries_itself);
  const std::uint64_t room =
      std::max<std::uint64_t>(policy.replay_memory_bytes, to_disk ? policy.replay_disk_bytes : 0);
  const bool too_long = request.framing == BodyFraming::counted && request.body_bytes > room;
  return policy.mode == policy::Mode::active && request.idempotent && !too_long;
}

void judge_risks(const Scene& scene, ClientPlan& client) {
  std::set<std::string> hosts;
  for (RequestPlan& request : client.requests) {
    request.repeatable = is_repeatable(scene, request);
    // With a parent proxy, all hosts share one upstream.
    const bool first = !request.repeatable && hosts.insert(scene.settings.parent ? "" : request.host).second;
    request.takes_no_risk = first;
    if (first && !scene.settings.parent) hosts = {request.host};
  }
}

TunnelEndPlan draw_tunnel_end(Chance& chance, Faults& faults, Fault resets) {
  TunnelEndPlan plan;
  plan.bytes = chance.pick<std::uint64_t>({0, 1, 3000, 20'000, 100'000});
  const std::uint64_t some = chance.between(1, plan.bytes + 1);
  if (plan.bytes > 0 && faults.plays(resets, chance.one_in(4)))
    plan.resets_after = std::min(some, plan.bytes);
  if (chance.one_in(3)) plan.pause = chance.milliseconds(1, 30);
  return plan;
}

// Draws a request inside client TLS that the proxy terminates. The proxy sends the request on over TLS.
void draw_terminated(Chance& chance, Faults& faults, const policy::IdempotencyRule& rule, TunnelPlan& plan) {
  RequestPlan request = draw_request(chance, inside_id, rule);
  request.host = plan.request.host;
  request.tunnelled = request.terminated = true;
  plan.inside = std::move(request);
  plan.request.terminated = true;
  plan.client.opening = client_hello_to(plan.request.host);
  plan.client.bytes = 0;
  const std::uint64_t some = chance.between(1, plan.client.opening.size());
  if (plan.client.resets_after) plan.client.resets_after = some;
  if (chance.one_in(6)) plan.client.silence = chance.milliseconds(20, 400);
  plan.stays_silent = faults.plays(Fault::handshake_silent, chance.one_in(8));
}

// Draws which end of the tunnel sends first, and what it sends.
void draw_opening(Chance& chance, Faults& faults, const policy::IdempotencyRule& rule, TunnelPlan& plan) {
  switch (chance.below(11)) {
    case 0:
    case 1: {
      RequestPlan request;
      request.id = inside_id;
      request.host = plan.request.host;
      request.tunnelled = true;
      request.response_bytes = chance.pick<std::uint64_t>({0, 300, 9000});
      request.idempotent = is_idempotent(rule, request);
      plan.inside = std::move(request);
      break;
    }
    case 2: plan.client.opening = std::string("\x16\x03\x01\x02\0\x01", 6); break;
    case 3: plan.client.opening = "GET /s/501 HTT"; break;
    case 4: plan.client.opening = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"; break;
    case 5: plan.client.silence = chance.milliseconds(50, 400); break;
    case 6:
      plan.server.opening = "220 ready\r\n";
      plan.client.hears_first = true;
      break;
    case 8:
    case 9:
    case 10: return draw_terminated(chance, faults, rule, plan);
    default: break;
  }
}

std::optional<TunnelArrival> draw_tunnel(Seed seed, Faults& faults, const policy::IdempotencyRule& rule) {
  Chance chance(seed, Purpose::clients, 1);
  if (!chance.one_in(4)) return std::nullopt;
  TunnelArrival arrival;
  arrival.at = chance.milliseconds(0, 3000);
  arrival.plan.request.id = tunnel_id;
  arrival.plan.request.method = "CONNECT";
  arrival.plan.request.host = std::string(tunnel_host);
  arrival.plan.request.idempotent = true;
  arrival.plan.client = draw_tunnel_end(chance, faults, Fault::client_reset);
  arrival.plan.server = draw_tunnel_end(chance, faults, Fault::body_reset);
  draw_opening(chance, faults, rule, arrival.plan);
  // Sends no bytes with the CONNECT head if the client waits for the server, is silent at first, or sends
  // HTTP.
  TunnelPlan& plan = arrival.plan;
  const bool waits = plan.client.hears_first || plan.inside || plan.client.silence > Duration::zero();
  if (chance.one_in(3) && !waits) plan.early = chance.between(1, 500);
  return arrival;
}

void draw_limits(Chance& chance, Faults& faults, config::Settings& settings) {
  settings.timers.header = chance.milliseconds(500, 10'000);
  settings.timers.keep_alive = chance.milliseconds(500, 30'000);
  settings.pool.idle = chance.pick<std::size_t>({0, 1, 32, 32});
  settings.pool.idle_timeout = chance.milliseconds(200, 30'000);
  settings.limits.kept_response_bytes = chance.pick<std::size_t>({0, 100, 64 * 1024});
  settings.log.access = false;
  settings.log.level = config::LogLevel::error;
  if (faults.plays(Fault::memory_spent, chance.one_in(4)))
    settings.limits.replay_memory_bytes = chance.below(3000);
}

// One story in four has upstreams that speak HTTP/2. With little memory for streams, windows stay small.
void draw_http2(Seed seed, const Faults& faults, Scene& scene) {
  Chance chance(seed, Purpose::policy, 8);
  if (!chance.one_in(4)) return;
  Http2Terms terms;
  terms.trusts_refusals = !chance.one_in(4);
  terms.connections = chance.pick<std::size_t>({1, 1, 2, 32});
  terms.connection_window = chance.pick<std::uint32_t>({0, 65'535, 65'535, 65'535});
  terms.has_room = !faults.knows(Fault::streams_limited) && !faults.knows(Fault::limit_changes);
  const auto memory = chance.pick<std::size_t>({0, 20'000, 60'000, 1'000'000});
  if (!chance.one_in(3)) scene.settings.limits.stream_memory_bytes = memory;
  scene.policy.http2 = policy::UseHttp2::always;
  scene.policy.refused_stream =
      terms.trusts_refusals ? policy::RefusedStream::trust : policy::RefusedStream::doubt;
  scene.settings.pool.http2_connections = terms.connections;
  scene.http2 = terms;
}

// Adds clients that ask the same host at nearly the same time, so that they share connections.
void add_crowd(Seed seed, Faults& faults, std::uint64_t& next_id, Scene& scene) {
  Chance chance(seed, Purpose::clients, 2);
  const std::uint64_t count = chance.pick<std::uint64_t>({0, 1, 2, 4});
  for (std::uint64_t i = 0; i < count; ++i) {
    Arrival arrival;
    arrival.at = chance.one_in(2) ? Duration::zero() : chance.milliseconds(0, 60);
    arrival.client = draw_client(chance, faults, next_id, scene.policy.idempotent);
    for (RequestPlan& request : arrival.client.requests) {
      request.host = "a.test";
      if (chance.one_in(6)) request.response_bytes = 40'000;
    }
    scene.arrivals.push_back(std::move(arrival));
  }
}

}  // namespace

bool is_idempotent(const policy::IdempotencyRule& rule, const RequestPlan& request) {
  switch (rule.kind) {
    case policy::IdempotencyRule::Kind::always: return true;
    case policy::IdempotencyRule::Kind::never: return false;
    case policy::IdempotencyRule::Kind::by_method: return request.method != "POST";
    default: return request.marked;
  }
}

ClientPlan plain_request(std::uint64_t id, const std::string& host, const policy::IdempotencyRule& rule) {
  ClientPlan client;
  RequestPlan request;
  request.id = request.client = id;
  request.host = host;
  request.response_bytes = 300;
  request.idempotent = is_idempotent(rule, request);
  client.requests.push_back(std::move(request));
  return client;
}

Scene draw_scene(Seed seed, Faults& faults) {
  Chance chance(seed, Purpose::policy);
  Scene scene;
  scene.policy = draw_policy(chance);
  scene.policy.tls.originate = Chance(seed, Purpose::policy, 2).one_in(3);
  if (Chance(seed, Purpose::policy, 4).one_in(8)) scene.policy.resume.validators = {"x-goog-generation"};
  draw_limits(chance, faults, scene.settings);
  draw_http2(seed, faults, scene);
  policy::Route fallback;
  fallback.name = "default";
  fallback.policy = scene.policy;
  scene.settings.routes =
      std::make_shared<const policy::RouteTable>(std::vector<policy::Route>{}, std::move(fallback));
  const Duration drains = chance.milliseconds(0, 8000);
  const Duration terminates = chance.milliseconds(0, 8000);
  if (faults.plays(Fault::drain, chance.one_in(16))) scene.drains_at = drains;
  if (faults.plays(Fault::termination, chance.one_in(16))) scene.terminates_at = terminates;
  const Duration jumps = chance.milliseconds(0, 4000);
  if (faults.plays(Fault::clock_jumps, chance.one_in(4))) scene.clock_jumps_at = jumps;
  scene.clock_jump = chance.one_in(2) ? Duration(std::chrono::hours(1)) : -Duration(std::chrono::hours(1));
  const std::uint64_t room = chance.below(6000);
  if (faults.plays(Fault::disk_full, chance.one_in(6))) scene.disk_room = room;
  scene.disk_breaks = faults.plays(Fault::disk_error, chance.one_in(3));

  Chance clients(seed, Purpose::clients);
  std::uint64_t next_id = 1;
  const std::uint64_t count = clients.pick<std::uint64_t>({1, 1, 2, 2, 3});
  for (std::uint64_t i = 0; i < count; ++i) {
    Arrival arrival;
    arrival.at = clients.one_in(2) ? Duration::zero() : clients.milliseconds(0, 3000);
    arrival.client = draw_client(clients, faults, next_id, scene.policy.idempotent);
    scene.arrivals.push_back(std::move(arrival));
  }
  if (scene.http2) add_crowd(seed, faults, next_id, scene);
  for (std::size_t i = 0; i < scene.arrivals.size(); ++i) {
    for (RequestPlan& request : scene.arrivals[i].client.requests) request.client = i + 1;
  }
  scene.tunnel = draw_tunnel(seed, faults, scene.policy.idempotent);
  // Removes the request inside the tunnel if the proxy may never read it: in mode off, the proxy does not
  // inspect tunnels; when the proxy is stopped, it may abort the tunnel before the first bytes.
  const bool unheard = scene.terminates_at || scene.policy.mode == policy::Mode::off;
  if (unheard && scene.tunnel) {
    scene.tunnel->plan.inside.reset();
    scene.tunnel->plan.request.terminated = false;
  }
  Chance ways(seed, Purpose::policy, 1);
  if (!scene.tunnel && !scene.policy.tls.originate && !scene.http2 && ways.one_in(6))
    scene.settings.parent = config::Parent{"192.0.2.50", 3128, "joe", "Basic am9lOnBhc3M="};
  for (Arrival& arrival : scene.arrivals) judge_risks(scene, arrival.client);
  return scene;
}

}  // namespace reprise::simulation
