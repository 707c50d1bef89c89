#include "proxy/forward/session/gateway_mode.hpp"

#include "proxy/forward/session/client_connection.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::forward {
namespace {

class GatewayMode final : public RequestListener {
 public:
  RequestKind kind() const override { return RequestKind::gateway; }
  tcp::endpoint asked_address(tcp::socket& socket) const override {
    ErrorCode gone;
    return socket.local_endpoint(gone);
  }
  std::string upstream_authority(const config::Listener&) const override;
  http::Intake take_in(const http::RequestHead&, const ListenerRole&, const ConnectionEnds&) const override;
  http::TargetForm http2_target_form(const config::Listener& listener) const override {
    const bool takes_any_host = listener.host == config::GatewayHost::client;
    return takes_any_host ? http::TargetForm::origin : http::TargetForm::absolute;
  }
  void plan_responses(Request&, const ListenerRole&, const ConnectionEnds&) const override;
};

std::string GatewayMode::upstream_authority(const config::Listener& listener) const {
  if (listener.host == config::GatewayHost::client) return {};
  const config::GatewayUpstream& upstream = listener.upstream;
  return http::authority_text(upstream.host, upstream.port,
                              upstream.https ? http::https_port : http::http_port);
}

http::Intake GatewayMode::take_in(const http::RequestHead& head, const ListenerRole& role,
                                  const ConnectionEnds& ends) const {
  const config::GatewayUpstream& upstream = role.settings.upstream;
  // The listener's own address is needed only for a comparison with the host of an absolute-form target.
  const bool names_host = !head.target.starts_with('/');
  const std::string own_host = names_host ? net::address_text(ends.listener.address()) : std::string();
  return http::take_gateway(head, {upstream.host, upstream.port, upstream.https, role.upstream_authority,
                                   own_host, ends.listener.port()});
}

void GatewayMode::plan_responses(Request& request, const ListenerRole& role,
                                 const ConnectionEnds& ends) const {
  if (role.settings.redirects == config::GatewayRedirects::pass) return;
  Responses& responses = request.responses;
  http::GatewayView& view = responses.gateway.emplace();
  view.host = role.settings.upstream.host;
  view.port = request.route.upstream->port;
  view.https = request.route.upstream->tls != nullptr;
  view.path_prefix = role.settings.upstream.path_prefix;
  const http::FieldLine* const host = request.in.head.find(http::FieldId::host);
  if (host != nullptr && http::names_gateway(view, host->value, ends.listener.port())) {
    view.authority = host->value;
    return;
  }
  responses.gateway_authority =
      http::authority_text(net::address_text(ends.listener.address()), ends.listener.port());
  view.authority = responses.gateway_authority;
}

}  // namespace

const RequestListener& gateway_mode() {
  static const GatewayMode mode;
  return mode;
}

}  // namespace reprise::forward
