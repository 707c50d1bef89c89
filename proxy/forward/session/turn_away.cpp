#include "proxy/forward/session/turn_away.hpp"

#include <boost/asio/co_spawn.hpp>
#include <memory>

#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/http/http1/reply.hpp"
#include "proxy/net/io/lingering_close.hpp"

namespace reprise::forward {

using telemetry::LimitHit;

namespace {

// Maximum number of clients that an io thread turns away gracefully at the same time. Each of these clients
// occupies a descriptor for a while.
constexpr unsigned most_polite = 16;
// How long to wait for the client's request before the response is sent. Some clients discard a response that
// arrives before they have sent their request.
constexpr Duration time_to_ask = std::chrono::seconds(1);

std::string refusal(Worker& worker, const ListenerMode& mode, LimitHit why, char first) {
  http::Reply reply;
  reply.status = 503;
  reply.proxy_status = worker.shared.pseudonym + "; error=connection_limit_reached";
  reply.body.append("reprise: connection rejected: ").append(telemetry::word(why)).append("\n");
  reply.body.append(advice_of(why)).append("\n");
  std::string fields = "Retry-After: 1\r\n";
  append_reason(telemetry::word(why), fields);
  std::string message;
  http::write_reply(reply, worker.date(), fields, true, false, message);
  return mode.no_room(message, first);
}

/// Counts a client that is being turned away gracefully, for the lifetime of this object.
class [[nodiscard]] PolitePlace {
 public:
  explicit PolitePlace(unsigned& taken) : taken_(taken) { ++taken_; }
  ~PolitePlace() { --taken_; }
  PolitePlace(const PolitePlace&) = delete;
  PolitePlace& operator=(const PolitePlace&) = delete;

 private:
  unsigned& taken_;
};

Task<void> turn_away_politely(Worker& worker, tcp::socket socket, const ListenerMode& mode, LimitHit why,
                              std::unique_ptr<PolitePlace> /*place*/) {
  net::Stream stream(worker.tick, std::move(socket));
  stream.limit_read(time_to_ask);
  char first = 0;
  const auto [error, bytes] = co_await stream.read_some(asio::buffer(&first, 1));
  if (!error || stream.take_limit_hit()) {
    const std::string message = refusal(worker, mode, why, first);
    net::Gather pieces;
    pieces.add(message);
    net::Buffer buffer;
    if (!stream.write_now(pieces)) co_await net::lingering_close(stream, buffer, std::chrono::seconds(2));
  }
}

}  // namespace

std::string_view advice_of(LimitHit why) {
  if (why == LimitHit::connection_limit)
    return "All connections that limits.connections allows are in use: try again later, or raise the limit.";
  return "This process has no free file descriptor: try again later, or raise the limit of open files "
         "(ulimit -n).";
}

void turn_away(Worker& worker, tcp::socket socket, const ListenerMode& mode, LimitHit why) {
  if (worker.turning_away >= most_polite) return turn_away_now(worker, std::move(socket), mode, why);
  worker.shared.metrics.count_limit(why);
  auto place = std::make_unique<PolitePlace>(worker.turning_away);
  asio::co_spawn(worker.io, turn_away_politely(worker, std::move(socket), mode, why, std::move(place)),
                 or_abort);
}

// Best effort: first reads what the client has sent, because closing a socket with unread bytes sends a
// reset.
void turn_away_now(Worker& worker, tcp::socket socket, const ListenerMode& mode, LimitHit why) {
  worker.shared.metrics.count_limit(why);
  const std::string message = refusal(worker, mode, why, 0);
  ErrorCode error;
  socket.non_blocking(true, error);
  socket.write_some(asio::buffer(message), error);
  socket.shutdown(tcp::socket::shutdown_send, error);
  std::array<char, 4096> unread{};
  for (int reads = 0; reads < 4 && !error; ++reads) socket.read_some(asio::buffer(unread), error);
}

}  // namespace reprise::forward
