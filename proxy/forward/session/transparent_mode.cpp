#include "proxy/forward/session/transparent_mode.hpp"

#include "proxy/forward/session/original_destination.hpp"
#include "proxy/forward/session/served_client.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

class TransparentMode final : public StreamListener {
 public:
  tcp::endpoint asked_address(tcp::socket& socket) const override { return original_destination(socket); }
  bool may_meet_own_dials() const override { return true; }
  // HTTP requests begin with a capital letter. Any other first byte belongs to TLS or to an unknown protocol.
  // A client of such a protocol would not understand an HTTP response.
  std::string no_room(std::string_view http_response, char first) const override {
    return first < 'A' || first > 'Z' ? std::string() : std::string(http_response);
  }

  Task<std::variant<StreamGone, Rejection, StreamTarget>> read_target(ServedClient& client,
                                                                      Duration) const override {
    const tcp::endpoint& original = client.ends.listener;
    if (original.port() == 0) co_return StreamGone{};
    const std::string host = net::address_text(original.address());
    co_return StreamTarget{host, original.port(), http::authority_text(host, original.port())};
  }
  std::optional<Rejection> judge(const ServedClient& client, const StreamTarget&) const override {
    const bool is_own = client.worker.shared.own_dials.has(client.ends.client, client.ends.listener);
    return is_own ? std::optional(Rejection::loop) : std::nullopt;
  }
  Task<void> refuse(ServedClient&, Rejection, Duration) const override { co_return; }
  Task<void> close(ServedClient& client) const override {
    client.stream.cut();
    co_return;
  }

  void append_opened(std::string_view, std::string&) const override {}
  bool append_failed(policy::Cause, std::string&) const override { return true; }
  bool names_host() const override { return false; }
};

}  // namespace

const StreamListener& transparent_mode() {
  static const TransparentMode mode;
  return mode;
}

}  // namespace reprise::forward
