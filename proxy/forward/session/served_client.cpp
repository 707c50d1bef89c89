#include "proxy/forward/session/served_client.hpp"

#include "proxy/http/message/origin.hpp"
#include "proxy/net/io/lingering_close.hpp"

namespace reprise::forward {

ClientPlace place_of_client(Shared& shared) {
  shared.metrics.client_connected();
  return ClientPlace(&shared);
}

ServedClient::ServedClient(Worker& thread, ClientConnection connection)
    : Client(thread, connection),
      stream(thread.tick, std::move(connection.carrier)),
      end_(stream),
      pause_(thread.io.get_executor()),
      place_(std::move(connection.place)) {
  worker.sessions.add(*this);
}

ServedClient::~ServedClient() { worker.sessions.remove(*this); }

ServedClient::Watch::Watch(ServedClient& client)
    : client_(client),
      bytes_{client.stream, client.buffer, client.body_, client.tunnel_},
      watch_(client.worker.tick, client.end_,
             [&client] {
               client.departed_.emplace(client.worker.departed, client, net::Tick::now(), client.has_place());
             }),
      guard_(client.watch_, &watch_) {
  if (client.worker.draining) watch_.shut_down();
}

ClientConnection ServedClient::release() {
  return {stream.release(), listener, role, ends, std::move(place_), non_repeatable_upstream, had_request};
}

net::BodySource& ServedClient::begin_body(const http::RequestHead& head) {
  body_.begin(stream, buffer, head.framing);
  return body_;
}

Task<void> ServedClient::linger() {
  const Idle idle(*this);
  co_await net::lingering_close(stream, buffer, worker.draining ? net::Tick::granule : net::linger_idle);
}

void ServedClient::drain() {
  if (const OpenTunnel* const open = tunnel_.get()) {
    open->tunnel.drain();
  } else if (net::ClientWatch* const watch = watch_.get()) {
    watch->shut_down();
  } else if (net::Stream* const idle = idle_.get(); idle != nullptr && !awaits_first) {
    idle->end_read();
  }
}

void ServedClient::judge(const net::AddressFilter& filter) {
  const OpenTunnel* const open = tunnel_.get();
  if (open == nullptr || !net::is_denied(filter, open->upstream, open->address)) return;
  const std::string text = "the tunnel to " + http::authority_text(open->upstream.host, open->upstream.port) +
                           " is closed: since the reload, security.deny lists its address";
  worker.shared.log.message(config::LogLevel::warn, text, net::Clock::wall_nanoseconds());
  open->tunnel.deny();
}

bool ServedClient::close_for_room() {
  if (!departed_ && has_pending_request()) return false;
  worker.shared.metrics.count_limit(telemetry::LimitHit::room);
  if (departed_) {
    abort();
  } else {
    stream.close();
  }
  return true;
}

void ServedClient::abort() {
  if (const OpenTunnel* const open = tunnel_.get()) open->tunnel.abort();
  if (net::ClientWatch* const watch = watch_.get()) watch->report_reset();
  stream.cancel();
}

}  // namespace reprise::forward
