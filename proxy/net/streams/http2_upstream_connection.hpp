// One HTTP/2 connection to an upstream.
#pragma once

#include <functional>

#include "proxy/http/http2/upstream_wire.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/streams/http2_connection.hpp"

namespace reprise::net {

/// Opens streams once the SETTINGS of the upstream have arrived.
class Http2UpstreamConnection final : public Http2Connection {
 public:
  /// Takes over a connection on which nothing was sent, and sends preface and SETTINGS. `limits`: the limits
  /// for each response head. `memory`: allows larger windows of streams. `early`: bytes of the upstream that
  /// were already read from the stream.
  static std::shared_ptr<Http2UpstreamConnection> begin(std::unique_ptr<Stream>,
                                                        const http::HeadLimits& limits,
                                                        http::StreamMemory& memory,
                                                        std::string_view early = {});
  /// Use `begin`.
  Http2UpstreamConnection(std::unique_ptr<Stream>, const http::HeadLimits& limits,
                          http::StreamMemory& memory);

  /// Waits until the SETTINGS of the upstream have arrived, at most until `due` (row M25). Returns timed_out
  /// if they have not arrived by then, or the error that ended the connection. Cancelling `wait` ends the
  /// call with operation_aborted.
  Task<ErrorCode> ready(Instant due, Pause& wait);
  /// Returns how many more streams may begin. 0 before the upstream's SETTINGS arrive, after GOAWAY, and
  /// after a failure.
  std::size_t room() const { return is_open() ? wire_.room() : 0; }
  const http::UpstreamWire& state() const { return wire_; }
  /// Sets the function that is called whenever the number of streams that may begin, or `is_open`, may have
  /// changed. It must not destroy this object.
  void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

 private:
  friend class Http2UpstreamStream;

  /// Returns true once it is known whether the upstream's SETTINGS will ever be there.
  bool is_decided() const { return wire_.ready() || !is_open() || wire_.failure(); }
  http::Wire& wire() override { return wire_; }
  void receive(std::string_view bytes) override { wire_.receive(bytes); }
  void changed() override;

  http::UpstreamWire wire_;
  std::function<void()> listener_;
  Pause* waits_for_settings_ = nullptr;
};

}  // namespace reprise::net
