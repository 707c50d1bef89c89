#include "proxy/forward/worker/idle_clients.hpp"

namespace reprise::forward {

void IdleClients::enter(IdleClient& client, Instant now) {
  client.since_ = now;
  client.listed_ = true;
  client.longer_ = shortest_;
  client.shorter_ = nullptr;
  (shortest_ != nullptr ? shortest_->shorter_ : longest_) = &client;
  shortest_ = &client;
}

void IdleClients::leave(IdleClient& client) {
  if (!client.listed_) return;
  client.listed_ = false;
  (client.longer_ != nullptr ? client.longer_->shorter_ : longest_) = client.shorter_;
  (client.shorter_ != nullptr ? client.shorter_->longer_ : shortest_) = client.longer_;
}

bool IdleClients::make_room(Instant now) {
  for (IdleClient* client = longest_; client != nullptr && now - client->since_ >= least_;) {
    IdleClient* following = client->shorter_;
    leave(*client);
    if (client->close_for_room()) return true;
    client = following;
  }
  return false;
}

}  // namespace reprise::forward
