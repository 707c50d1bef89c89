#include "tests/simulation/tunnel.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/content.hpp"
#include "tests/simulation/sealed.hpp"

namespace reprise::simulation {

TunnelEnd::TunnelEnd(World& world, Book& book, std::uint64_t id, TunnelEndPlan plan, TunnelEndPlan other,
                     std::shared_ptr<Wire> wire, Chance pieces, unsigned sends, unsigned takes)
    : book_(book),
      world_(world),
      id_(id),
      plan_(std::move(plan)),
      other_(std::move(other)),
      wire_(std::move(wire)),
      pieces_(std::move(pieces)),
      sends_(sends),
      takes_(takes) {
  wire_->attach(this);
}

TunnelEnd::~TunnelEnd() { wire_->attach(nullptr); }

void TunnelEnd::look() {
  if (over_) return;
  read();
  if (over_) return;
  if (hands_over_now()) return end(false);
  if (wire_->was_reset()) return end(true);
  if (!seen_.finished && wire_->proxy_finished() && wire_->received().empty()) {
    seen_.finished = true;
    seen_.theirs = world_.now();
  }
  pump();
  if (seen_.finished && (finished_ || !may_send() || ends_with_other())) end(false);
}

void TunnelEnd::read() {
  const std::string bytes(wire_->received());
  if (bytes.empty()) return;
  const std::size_t before = before_tunnel(bytes);
  const std::string_view mine = std::string_view(bytes).substr(before);
  if (!is_other(seen_.received, mine)) book_.broken("a tunnel's bytes arrive as they were sent");
  seen_.received += mine.size();
  wire_->consume(bytes.size());
}

bool TunnelEnd::is_other(std::uint64_t place, std::string_view bytes) const {
  const std::uint64_t opening = other_.opening.size();
  const std::uint64_t first = place < opening ? std::min<std::uint64_t>(opening - place, bytes.size()) : 0;
  if (first > 0 && other_.opening.substr(place, first) != bytes.substr(0, first)) return false;
  return Content(id_, takes_).holds(place + first - opening, bytes.substr(first));
}

void TunnelEnd::pump() {
  if (over_ || !may_send() || (plan_.hears_first && seen_.received == 0 && !seen_.finished)) return;
  if (plan_.silence > Duration::zero() && !std::exchange(was_silent_, true)) return pause(plan_.silence);
  while (!over_ && !pausing_ && sent_ < plan_.all()) {
    const std::size_t taken = wire_->send(bytes_at(sent_, pieces_.between(1, 4000)));
    sent_ += taken;
    if (plan_.resets_after && sent_ >= *plan_.resets_after) {
      wire_->reset();
      return end(true);
    }
    if (taken == 0) return;
    if (plan_.pause > Duration::zero()) pause(plan_.pause);
  }
  if (over_ || finished_ || pausing_ || sent_ < plan_.all() || ends_with_other()) return;
  finished_ = true;
  seen_.ours = world_.now();
  wire_->finish();
}

// Returns bytes of the opening or of the content that follows the opening, but never of both at once.
std::string TunnelEnd::bytes_at(std::uint64_t place, std::uint64_t most) const {
  const std::uint64_t opening = plan_.opening.size();
  if (place < opening) return plan_.opening.substr(place, most);
  const std::uint64_t end = std::min(place + most, plan_.all());
  return Content(id_, sends_).text(place - opening, end - opening);
}

std::string TunnelEnd::take_next(std::uint64_t count) {
  std::string bytes = bytes_at(sent_, count);
  sent_ += bytes.size();
  return bytes;
}

void TunnelEnd::pause(Duration span) {
  pausing_ = true;
  world_.after(span, [this, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    pausing_ = false;
    look();
  });
}

void TunnelEnd::end(bool by_reset) {
  over_ = true;
  seen_.reset = by_reset;
  ended();
}

TunnelClient::TunnelClient(World& world, Book& book, const TunnelPlan& plan, std::shared_ptr<Wire> wire,
                           Chance pieces)
    : TunnelEnd(world, book, plan.request.id, plan.client, plan.server, wire, std::move(pieces), 10, 11),
      request_(plan.request),
      early_(plan.early),
      terminated_(plan.request.terminated),
      stays_silent_(plan.stays_silent),
      asked_on_(std::move(wire)) {}

void TunnelClient::start() {
  book_.open(request_).may_miss_response = true;
  book_.tell("client asks for a tunnel to " + request_.host);
  const std::string head =
      "CONNECT " + request_.host + ":8443 HTTP/1.1\r\nHost: " + request_.host + ":8443\r\n\r\n";
  asked_on_->send_whole(head + take_next(early_));
}

std::size_t TunnelClient::before_tunnel(std::string_view bytes) {
  if (open_ && terminated_) {
    shake_hands(bytes);
    return bytes.size();
  }
  if (open_) return 0;
  head_.append(bytes);
  const std::size_t end = head_.find("\r\n\r\n");
  if (end == std::string::npos) return bytes.size();
  const std::size_t mine = head_.size() - end - 4;
  refused_ = !head_.starts_with("HTTP/1.1 200 ");
  open_ = !refused_;
  return refused_ ? bytes.size() : bytes.size() - mine;
}

void TunnelClient::shake_hands(std::string_view bytes) {
  flight_.append(bytes);
  if (!server_flight.starts_with(flight_)) book_.broken("a client's handshake is answered");
  if (flight_ != server_flight || stays_silent_) return;
  asked_on_->send_whole(client_flight);
  shaken_ = true;
}

void TunnelClient::ended() {
  Account& account = *book_.find(request_.id);
  account.end = refused_ ? ClientEnd::own_response
                         : (open_ && !seen().reset && !terminated_ ? ClientEnd::whole : ClientEnd::cut);
  if (hands_over_now()) hands_over();
}

}  // namespace reprise::simulation
