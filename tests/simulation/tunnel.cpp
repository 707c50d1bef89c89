#include "tests/simulation/tunnel.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/content.hpp"

namespace reprise::simulation {

TunnelEnd::TunnelEnd(World& world, Book& book, std::uint64_t id, TunnelEndPlan plan,
                     std::shared_ptr<Wire> wire, Chance pieces, unsigned sends, unsigned takes)
    : book_(book),
      world_(world),
      id_(id),
      plan_(std::move(plan)),
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
  if (wire_->was_reset()) return end(true);
  if (wire_->proxy_finished() && wire_->received().empty()) seen_.finished = true;
  pump();
  if (seen_.finished && (finished_ || !may_send())) end(false);
}

void TunnelEnd::read() {
  const std::string bytes(wire_->received());
  if (bytes.empty()) return;
  const std::size_t before = before_tunnel(bytes);
  const std::string_view mine = std::string_view(bytes).substr(before);
  if (!Content(id_, takes_).holds(seen_.received, mine))
    book_.broken("a tunnel's bytes arrive as they were sent");
  seen_.received += mine.size();
  wire_->consume(bytes.size());
}

void TunnelEnd::pump() {
  const Content content(id_, sends_);
  while (!over_ && !pausing_ && may_send() && sent_ < plan_.bytes) {
    const std::uint64_t most = std::min<std::uint64_t>(plan_.bytes - sent_, pieces_.between(1, 4000));
    const std::size_t taken = wire_->send(content.text(sent_, sent_ + most));
    sent_ += taken;
    if (plan_.resets_after && sent_ >= *plan_.resets_after) {
      wire_->reset();
      return end(true);
    }
    if (taken == 0) return;
    if (plan_.pause == Duration::zero()) continue;
    pausing_ = true;
    world_.after(plan_.pause, [this, alive = std::weak_ptr<char>(alive_)] {
      if (alive.expired()) return;
      pausing_ = false;
      look();
    });
  }
  if (over_ || finished_ || !may_send() || sent_ < plan_.bytes) return;
  finished_ = true;
  wire_->finish();
}

void TunnelEnd::end(bool by_reset) {
  over_ = true;
  seen_.reset = by_reset;
  ended();
}

TunnelClient::TunnelClient(World& world, Book& book, const TunnelPlan& plan, std::shared_ptr<Wire> wire,
                           Chance pieces)
    : TunnelEnd(world, book, plan.request.id, plan.client, wire, std::move(pieces), 10, 11),
      request_(plan.request),
      asked_on_(std::move(wire)) {}

void TunnelClient::start() {
  book_.open(request_).may_miss_answer = true;
  book_.tell("client asks for a tunnel to " + request_.host);
  const std::string head =
      "CONNECT " + request_.host + ":8443 HTTP/1.1\r\nHost: " + request_.host + ":8443\r\n\r\n";
  asked_on_->send_whole(head);
}

std::size_t TunnelClient::before_tunnel(std::string_view bytes) {
  if (open_) return 0;
  head_.append(bytes);
  const std::size_t end = head_.find("\r\n\r\n");
  if (end == std::string::npos) return bytes.size();
  const std::size_t mine = head_.size() - end - 4;
  refused_ = !head_.starts_with("HTTP/1.1 200 ");
  open_ = !refused_;
  return refused_ ? bytes.size() : bytes.size() - mine;
}

void TunnelClient::ended() {
  Account& account = *book_.find(request_.id);
  account.end =
      refused_ ? ClientEnd::own_answer : (open_ && !seen().reset ? ClientEnd::whole : ClientEnd::cut);
}

}  // namespace reprise::simulation
