#include "proxy/forward/session/forward_mode.hpp"

#include "proxy/forward/session/client_connection.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::forward {
namespace {

class ForwardMode final : public RequestListener, public StreamProtocol {
 public:
  RequestKind kind() const override { return RequestKind::forward; }
  http::Intake take_in(const http::RequestHead& head, const ListenerRole& role,
                       const ConnectionEnds&) const override {
    return http::take_forward(head, role.connect_ports);
  }

  void append_opened(std::string_view own_fields, std::string& out) const override {
    http::ascii::append(out, "HTTP/1.1 200 Connection established\r\n", own_fields, "\r\n");
  }
  bool append_failed(policy::Cause, std::string&) const override { return false; }
  bool names_host() const override { return true; }
};

const ForwardMode& the_mode() {
  static const ForwardMode mode;
  return mode;
}

}  // namespace

const RequestListener& forward_mode() { return the_mode(); }
const StreamProtocol& connect_protocol() { return the_mode(); }

}  // namespace reprise::forward
