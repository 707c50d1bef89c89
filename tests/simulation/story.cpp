#include "tests/simulation/story.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <cerrno>

#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/session/listen.hpp"
#include "proxy/http/message/rejection.hpp"
#include "tests/simulation/http2_windows.hpp"
#include "tests/simulation/laws.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/scene.hpp"
#include "tests/simulation/sealed.hpp"

namespace reprise::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

config::Log quiet_log() {
  config::Log log;
  log.level = config::LogLevel::error;
  log.access = false;
  return log;
}

constexpr std::uint64_t most_steps = 300'000;
constexpr Duration longest = std::chrono::minutes(20);
// Time after which every requested pause, open circuit and pooled connection has expired.
constexpr Duration calm = seconds(90);
constexpr std::uint64_t last_request = 1'000'000;

const std::string one_route = "default";

int null_descriptor() {
  static const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  return descriptor;
}

std::vector<std::string_view> rejection_words() {
  const auto words = http::all_words();
  return {words.begin(), words.end()};
}

std::optional<std::uint64_t> story_of(std::string_view path) {
  return path.starts_with("/s/") ? number(path.substr(3)) : std::nullopt;
}

std::string describe(const policy::LedgerEntry& entry) {
  const auto seconds_of = [](Duration span) {
    return std::to_string(static_cast<double>(span.count()) / 1e9);
  };
  std::string text = "  attempt " + std::to_string(entry.attempt.number) + ", " +
                     seconds_of(entry.started - World::beginning) + " to " +
                     seconds_of(entry.ended - World::beginning) + ": " + forward::outcome_text(entry);
  if (entry.verdict.retry) text.append(", again after " + seconds_of(entry.verdict.delay));
  return text;
}

forward::FileCalls disk_of(const Scene& scene, std::uint64_t& room) {
  forward::FileCalls calls = forward::system_file_calls();
  room = scene.disk_room;
  calls.open = [](const std::string&) { return ::memfd_create("story", MFD_CLOEXEC); };
  calls.write = [&room](int file, const char* bytes, std::size_t count, off_t offset) -> ssize_t {
    const std::size_t most = std::min<std::uint64_t>(count, room);
    if (most == 0) {
      errno = ENOSPC;
      return -1;
    }
    room -= most;
    return ::pwrite(file, bytes, most, offset);
  };
  if (scene.disk_breaks) {
    calls.read = [](int, char*, std::size_t, off_t) -> ssize_t {
      errno = EIO;
      return -1;
    };
  }
  return calls;
}

/// The proxy under test, and the simulated clients, upstreams and network around it.
class Story {
 public:
  Story(Stage& stage, const Play& what, CoverageMarks& marks);
  Played play();

 private:
  void connect(ClientPlan plan);
  void open_tunnel(const TunnelPlan& plan);
  std::shared_ptr<Wire> accept(std::uint64_t which);
  void judge_tunnel();
  void observer(const telemetry::ExchangeRecord& record);
  void look_up(net::Resolver::Question question);
  bool run_until_over(Instant limit);
  void run_for(Duration span);
  bool all_over() const;
  void play_faults();
  void drain();
  void play_calm();
  void end();

  Stage& stage_;
  const Play& what_;
  CoverageMarks& marks_;
  World world_;
  Faults faults_;
  Book book_;
  Scene scene_;
  Network network_;
  forward::EventLoop disk_{1};
  std::uint64_t disk_room_ = 0;
  net::BudgetTable budgets_;
  net::HostGuards host_guards_;
  forward::ReplayStore replay_;
  http::StreamMemory stream_memory_{scene_.settings.limits.stream_memory_bytes};
  /// The proxy's resolver. Reset before worker_, because its callbacks run on the worker's event loop.
  std::unique_ptr<net::Resolver> resolver_;
  forward::Shared shared_;
  std::shared_ptr<forward::Listener> listener_ = std::make_shared<forward::Listener>();
  std::unique_ptr<forward::Worker> worker_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<TunnelClient> tunnel_;
  std::size_t to_come_ = 0;
  unsigned handshakes_ = 0;
  Totals before_;
  Seen seen_;
};

Story::Story(Stage& stage, const Play& what, CoverageMarks& marks)
    : stage_(stage),
      what_(what),
      marks_(marks),
      world_(what.seed),
      faults_(what.seed, what.left_out),
      book_(world_),
      scene_(draw_scene(what.seed, faults_)),
      network_(what.seed, world_, faults_, book_, what.canary),
      budgets_(64),
      host_guards_(64),
      replay_(scene_.settings.limits, disk_of(scene_, disk_room_), stage.metrics, stage.log,
              disk_.get_executor()),
      resolver_(std::make_unique<net::Resolver>(
          [this](net::Resolver::Question question) { look_up(std::move(question)); }, net::Resolver::Limits(),
          stage.metrics)),
      shared_{stage.metrics, stage.log, budgets_,       host_guards_,
              *resolver_,    replay_,   stream_memory_, "reprise-sim"},
      before_(stage.metrics.totals()) {
  // The simulated clients use HTTP/1. The preface of HTTP/2 in a tunnel is one of the bytes that pass unread.
  config::Listener listener = scene_.settings.listeners.front();
  listener.http2 = false;
  listener_->role =
      std::make_shared<const forward::ListenerRole>(forward::role_of(listener, scene_.settings.security, {}));
  http2_windows = {};
  if (scene_.http2) {
    network_.speak_http2(*scene_.http2);
    http2_windows = {scene_.http2->connection_window, what.canary == Canary::kept_window};
  }
  if (scene_.settings.parent) network_.set_parent(scene_.settings.parent->host);
  network_.set_connect_timeout(scene_.policy.connect_timeout);
  // On a route without limits every dial fails, so that only the deadline ends the attempts and the ledger
  // gets more entries than it keeps (row L25).
  if (!scene_.policy.retry.max_attempts && !scene_.policy.budget &&
      scene_.policy.retry.backoff.maximum == std::chrono::milliseconds(1))
    network_.refuse_all();
  shared_.observer = [this](const telemetry::ExchangeRecord& record) { observer(record); };
  shared_.links.make_link = [this](const asio::any_io_executor& executor) {
    return std::make_unique<WireLink>(executor, world_, network_);
  };
  shared_.links.race_dials = [this](std::span<const tcp::endpoint> order, std::size_t which) {
    network_.race_dials(order, which);
  };
  shared_.links.make_secure = [this, seed = what.seed](net::Carrier carrier, std::string_view) {
    auto link = std::get<std::unique_ptr<net::Link>>(std::move(carrier));
    if (what_.canary != Canary::clear_text) static_cast<WireLink&>(*link).seal();
    return std::make_unique<SealedLink>(std::move(link), world_, faults_,
                                        Chance(seed, Purpose::dials, 500'000 + ++handshakes_));
  };
  const auto snapshot = std::make_shared<net::Snapshot>();
  snapshot->settings = scene_.settings;
  snapshot->filter = stage.filter;
  snapshot->tls = stage.tls;
  snapshot->counted_as.assign(scene_.settings.routes->size(), 0);
  if (scene_.tunnel && scene_.tunnel->plan.request.terminated) {
    snapshot->client_tls =
        std::make_shared<SealingClients>(tunnel_host, faults_, Chance(what.seed, Purpose::dials, 400'000));
  }
  worker_ = std::make_unique<forward::Worker>(shared_, snapshot, Chance::mixed(what.seed.number, 77));
  world_.drive(worker_->io);
  world_.drive(disk_);
  if (what.tells) book_.keep_transcript();
}

void Story::observer(const telemetry::ExchangeRecord& record) {
  marks_.count(record);
  seen_.add(record);
  const auto id = record.tunnel ? std::optional(tunnel_id) : story_of(record.path);
  Account* account = id ? book_.find(*id) : nullptr;
  if (account == nullptr) return book_.broken("every exchange is of a request");
  ++account->records;
  if (account->plan.terminated && !record.tunnel) {
    ++marks_.intercepted;
    if (record.ledger->size() > 1) ++marks_.intercepted_again;
  }
  account->ending = record.ending;
  account->ledger = *record.ledger;
  account->head_at = record.started;
  account->told = world_.now();
  if (book_.telling())
    book_.tell("exchange " + std::to_string(*id) +
               " is over: " + std::string(telemetry::word(record.ending)) + ", " +
               std::to_string(record.status) + ", " + std::to_string(record.ledger->size()) + " attempts, " +
               std::string(policy::word(record.ledger->reason)));
  for (std::size_t i = 0; book_.telling() && i < record.ledger->size(); i = record.ledger->next(i))
    book_.tell(describe((*record.ledger)[i]));
}

// Lets the proxy accept a new client connection. Returns its wire.
std::shared_ptr<Wire> Story::accept(std::uint64_t which) {
  auto wire = std::make_shared<Wire>(world_, faults_, Chance(what_.seed, Purpose::pieces, 1'000'000 + which));
  auto link = std::make_unique<WireLink>(worker_->io.get_executor(), world_, wire);
  shared_.client_connections.fetch_add(1);
  forward::serve(*worker_,
                 {std::move(link), listener_, listener_->role, {}, forward::place_of_client(shared_)});
  return wire;
}

void Story::open_tunnel(const TunnelPlan& plan) {
  network_.serve_tunnel(plan);
  const std::shared_ptr<Wire> wire = accept(plan.request.id);
  tunnel_ = std::make_unique<TunnelClient>(world_, book_, plan, wire,
                                           Chance(what_.seed, Purpose::pieces, 4'000'000));
  if (plan.inside) {
    tunnel_->hands_over = [this, wire, request = *plan.inside] {
      ClientPlan client;
      client.requests.push_back(request);
      clients_.push_back(std::make_unique<Client>(world_, book_, std::move(client), wire,
                                                  Chance(what_.seed, Purpose::pieces, 5'000'000)));
      clients_.back()->start();
    };
  }
  tunnel_->start();
}

// Checks that each end of the tunnel received all bytes of the other end, unless an end or the proxy aborted
// the tunnel.
void Story::judge_tunnel() {
  const TunnelEnd* server = network_.tunnel_server();
  const Account* account = book_.find(tunnel_id);
  if (server == nullptr || account == nullptr || !tunnel_->open()) return;
  const TunnelPlan& plan = scene_.tunnel->plan;
  if (plan.client.resets_after || plan.server.resets_after || scene_.drains_at || scene_.terminates_at)
    return;
  if (account->end != ClientEnd::whole)
    return book_.broken("a tunnel that neither end breaks off ends for both");
  if (tunnel_->seen().received != plan.server.all() || server->seen().received != plan.client.all())
    book_.broken("a tunnel carries all that both ends have sent");
  constexpr Duration at_once = std::chrono::milliseconds(500);
  if (tunnel_->seen().theirs > server->seen().ours + at_once ||
      server->seen().theirs > tunnel_->seen().ours + at_once)
    book_.broken("the end of one side of a tunnel is told to the other at once");
}

void Story::connect(ClientPlan plan) {
  const std::uint64_t which = plan.requests.front().id;
  const std::shared_ptr<Wire> wire = accept(which);
  clients_.push_back(std::make_unique<Client>(world_, book_, std::move(plan), wire,
                                              Chance(what_.seed, Purpose::pieces, 2'000'000 + which)));
  clients_.back()->start();
}

// Answers name lookups from the story's network, in virtual time.
void Story::look_up(net::Resolver::Question question) {
  world_.after(network_.patience_of_names(), [this, question = std::move(question)] {
    question.complete(network_.query(question.name()));
  });
}

bool Story::all_over() const {
  if (tunnel_ != nullptr && !tunnel_->over()) return false;
  return to_come_ == 0 &&
         std::all_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->over(); });
}

bool Story::run_until_over(Instant limit) {
  while (!all_over()) {
    if (world_.steps() > most_steps || !book_.first_broken().empty() || !world_.step(limit)) return false;
  }
  return true;
}

void Story::run_for(Duration span) {
  const Instant limit = world_.now() + span;
  world_.at(limit, [] {});
  while (world_.steps() < most_steps && book_.first_broken().empty() && world_.step(limit)) {
  }
}

void Story::drain() {
  book_.stop();
  forward::drain(*worker_);
}

void Story::play_faults() {
  to_come_ = scene_.arrivals.size();
  for (Arrival& arrival : scene_.arrivals) {
    world_.after(arrival.at, [this, &arrival] {
      --to_come_;
      if (!worker_->draining) connect(std::move(arrival.client));
    });
  }
  if (scene_.tunnel) {
    ++to_come_;
    world_.after(scene_.tunnel->at, [this] {
      --to_come_;
      if (!worker_->draining) open_tunnel(scene_.tunnel->plan);
    });
  }
  if (scene_.clock_jumps_at)
    world_.after(*scene_.clock_jumps_at, [this] { world_.move_wall(scene_.clock_jump); });
  if (scene_.drains_at) world_.after(*scene_.drains_at, [this] { drain(); });
  if (scene_.terminates_at) {
    world_.after(*scene_.terminates_at, [this] {
      drain();
      world_.after(seconds(1), [this] { forward::abort(*worker_); });
    });
  }
  if (!run_until_over(world_.now() + longest)) book_.broken("every request ends");
}

// Ends the faults and waits. The next request must then succeed at its first attempt.
void Story::play_calm() {
  faults_.end();
  run_for(calm);
  if (!book_.first_broken().empty()) return;
  const std::string host = what_.seed.number % 2 == 0 ? "a.test" : "192.0.2.9";
  const Instant asked = world_.now();
  connect(plain_request(last_request, host, scene_.policy.idempotent));
  run_until_over(asked + seconds(5));
  const Account& last = *book_.find(last_request);
  const bool at_once = last.arrivals == 1 || last.ledger.hedge != policy::HedgeOutcome::none;
  if (last.end != ClientEnd::whole || !at_once || last.ended - asked > seconds(1))
    book_.broken("after the faults a request succeeds at attempt 1 within a second");
}

void Story::end() {
  judge_tunnel();
  for (const auto& client : clients_) client->go();
  if (!worker_->draining) forward::drain(*worker_);
  run_for(seconds(1));
  forward::abort(*worker_);
  run_for(seconds(30));
  if (shared_.client_connections.load() != 0) return book_.broken("every client connection is let go");
  if (replay_.memory().held() != 0 || replay_.disk().held() != 0)
    return book_.broken("every held body is given back");
  worker_->pool.close();
  if (stream_memory_.held() != 0) return book_.broken("every byte that streams held is given back");
  if (WireLink::standing() != 0) return book_.broken("every connection is closed");
  if (const std::string law = unlike(before_, stage_.metrics.totals(), seen_); !law.empty())
    book_.broken(law);
}

Played Story::play() {
  play_faults();
  const bool was_told_to_stop = scene_.drains_at || scene_.terminates_at;
  if (book_.first_broken().empty() && !was_told_to_stop) play_calm();
  if (book_.first_broken().empty()) end();
  if (book_.first_broken().empty()) {
    if (const std::string law = first_broken_law(book_, scene_, faults_, network_.names()); !law.empty())
      book_.broken(law);
  }
  Played played;
  played.broken = book_.first_broken();
  played.hash = world_.hash();
  played.steps = world_.steps();
  played.requests = book_.accounts().size();
  played.faults = faults_.played();
  for (std::size_t i = 0; i < fault_count; ++i) marks_.faults[i] += faults_.counts()[i];
  for (std::size_t i = 0; i < marks_.http2.size(); ++i) marks_.http2[i] += book_.http2_counts()[i];
  // A broken story can leave sessions behind. Destroys these sessions before the actors at the other ends of
  // their wires.
  world_.let_go();
  resolver_.reset();
  worker_.reset();
  return played;
}

}  // namespace

Stage::Stage()
    : metrics(std::span<const std::string>(&one_route, 1), rejection_words(), "simulation"),
      log(quiet_log(), {one_route}, null_descriptor(), telemetry::LogReader::stream),
      filter(std::make_shared<const net::AddressFilter>(
          config::Deny(), std::vector{tcp::endpoint(asio::ip::address_v4::loopback(), 3128)})),
      tls(std::make_shared<const net::TlsClients>(policy::RouteTable({}, policy::Route()))) {}

Played play(Stage& stage, const Play& what, CoverageMarks& marks) { return Story(stage, what, marks).play(); }

}  // namespace reprise::simulation
