#include "proxy/forward/session/socks_mode.hpp"

#include "proxy/forward/session/served_client.hpp"
#include "proxy/forward/session/socks_greeting.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/io/lingering_close.hpp"

namespace reprise::forward {

using http::Rejection;

namespace {

class SocksMode final : public StreamListener {
 public:
  std::string no_room(std::string_view, char) const override { return socks_method_reply(false); }

  Task<std::variant<StreamGone, Rejection, StreamTarget>> read_target(ServedClient&,
                                                                      Duration limit) const override;
  std::optional<Rejection> judge(const ServedClient& client, const StreamTarget& target) const override {
    const bool allowed = http::is_allowed(target.port, client.role->connect_ports);
    return allowed ? std::nullopt : std::optional(Rejection::connect_port_denied);
  }
  Task<void> refuse(ServedClient& client, Rejection cause, Duration limit) const override {
    return refuse_socks(client.stream, cause, limit);
  }
  Task<void> close(ServedClient& client) const override {
    return net::lingering_close(client.stream, client.buffer);
  }

  void append_opened(std::string_view, std::string& out) const override { out.append(socks_success()); }
  bool append_failed(policy::Cause cause, std::string& out) const override {
    out.append(socks_failure(cause));
    return true;
  }
  bool names_host() const override { return true; }
};

Task<std::variant<StreamGone, Rejection, StreamTarget>> SocksMode::read_target(ServedClient& client,
                                                                               Duration limit) const {
  auto greeted = co_await greet_socks(client.stream, client.buffer, limit);
  if (const auto* const gone = std::get_if<StreamGone>(&greeted)) co_return *gone;
  if (const auto* const cause = std::get_if<Rejection>(&greeted)) co_return *cause;
  auto& wanted = std::get<SocksRequest>(greeted);
  std::string authority = http::authority_text(wanted.host, wanted.port);
  co_return StreamTarget{std::move(wanted.host), wanted.port, std::move(authority)};
}

}  // namespace

const StreamListener& socks_mode() {
  static const SocksMode mode;
  return mode;
}

}  // namespace reprise::forward
