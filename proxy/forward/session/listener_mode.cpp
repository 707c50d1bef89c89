#include "proxy/forward/session/listener_mode.hpp"

#include "proxy/forward/session/forward_mode.hpp"
#include "proxy/forward/session/gateway_mode.hpp"
#include "proxy/forward/session/socks_mode.hpp"
#include "proxy/forward/session/transparent_mode.hpp"

namespace reprise::forward {

const ListenerMode& mode_of(config::ListenerMode mode) {
  switch (mode) {
    case config::ListenerMode::forward: return forward_mode();
    case config::ListenerMode::gateway: return gateway_mode();
    case config::ListenerMode::transparent: return transparent_mode();
    case config::ListenerMode::socks: return socks_mode();
  }
  return forward_mode();
}

}  // namespace reprise::forward
