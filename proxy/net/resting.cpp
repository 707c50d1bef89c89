#include "proxy/net/resting.hpp"

namespace reprise::net {

void RestingClients::enter(Resting& client, Instant now) {
  client.since_ = now;
  client.listed_ = true;
  client.longer_ = shortest_;
  client.shorter_ = nullptr;
  (shortest_ != nullptr ? shortest_->shorter_ : longest_) = &client;
  shortest_ = &client;
}

void RestingClients::leave(Resting& client) {
  if (!client.listed_) return;
  client.listed_ = false;
  (client.longer_ != nullptr ? client.longer_->shorter_ : longest_) = client.shorter_;
  (client.shorter_ != nullptr ? client.shorter_->longer_ : shortest_) = client.longer_;
}

bool RestingClients::make_room(Instant now) {
  for (Resting* client = longest_; client != nullptr && now - client->since_ >= least;) {
    Resting* following = client->shorter_;
    leave(*client);
    if (client->close_for_room()) return true;
    client = following;
  }
  return false;
}

}  // namespace reprise::net
