#include "proxy/forward/session/client.hpp"

#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

Client::Client(Worker& thread, const ClientConnection& connection)
    : worker(thread),
      pin(connection.client),
      listener(connection.listener),
      role(connection.role),
      ends(connection.ends),
      non_repeatable_upstream(connection.non_repeatable_upstream),
      had_request(connection.had_request),
      is_websocket(connection.is_websocket) {}

std::unique_ptr<Request> Client::begin_request() {
  auto request = worker.lend_request();
  request->in.client = name();
  pin_current_snapshot(*request);
  return request;
}

void Client::end_request(std::unique_ptr<Request> request) {
  request->clear();
  worker.give_back(std::move(request));
}

// Keeps the old settings if the listener's mode has changed: a reload never changes the protocol of an open
// connection.
void Client::pin_current_snapshot(Request& request) {
  if (listener->role->settings.mode == role->settings.mode) role = listener->role;
  request.route.snapshot = worker.snapshot;
  request.in.listener = role->name;
  if (request.in.listener_settings != role) request.in.listener_settings = role;
  request.in.listener_closed = &listener->closed;
}

std::string_view Client::name() {
  if (name_.empty()) name_ = net::endpoint_text(ends.client);
  return name_;
}

}  // namespace reprise::forward
