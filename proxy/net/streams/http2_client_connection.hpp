// One HTTP/2 connection of a client.
#pragma once

#include "proxy/http/http2/client_wire.hpp"
#include "proxy/net/io/lingering_close.hpp"
#include "proxy/net/streams/http2_connection.hpp"

namespace reprise::net {

/// Accepts streams. After the client's FIN, the streams that have begun go on (row M65).
class Http2ClientConnection final : public Http2Connection {
 public:
  /// What the owner does for the connection.
  class Owner {
   public:
    /// Serves a stream whose head has arrived; see ClientWire::take_begun. Must not wait.
    virtual void serve(http::StreamId) = 0;
    /// Called after anything may have changed: bytes have arrived, or the connection has ended.
    virtual void changed() = 0;

   protected:
    ~Owner() = default;
  };

  /// Takes over a connection. `owner` must live until the connection has ended or `forget_owner` is called.
  Http2ClientConnection(std::unique_ptr<Stream>, http::TargetForm, const http::ClientWire::Limits&,
                        http::StreamMemory&, Owner&);

  /// Sends the SETTINGS and begins to read. `early`: the client's first bytes, which were already read.
  void begin(std::string_view early);
  const http::ClientWire& state() const { return wire_; }
  std::vector<http::Rejection> take_malformed() { return wire_.take_malformed(); }
  /// Returns true if the client has closed its sending side.
  bool is_finished() const { return finished_; }
  /// Announces that the connection will be closed; further streams are accepted until the client knows (row
  /// M64).
  void announce_goodbye();
  /// Sends GOAWAY with the newest stream, and refuses further streams. Open streams go on.
  void say_goodbye();
  /// Resets every open stream with CANCEL, and closes the connection.
  void abort();
  /// Sets the result of `linger`; five seconds initially.
  void linger_for(Duration idle) { linger_ = idle; }
  /// Ends a wait after `close` in which the client's bytes are discarded. Later ones are short.
  void end_linger() {
    linger_ = Tick::granule;
    end_discarding();
  }
  void forget_owner() { owner_ = nullptr; }

 private:
  friend class Http2ClientStream;

  http::Wire& wire() override { return wire_; }
  void receive(std::string_view bytes) override;
  void changed() override;
  Duration linger() const override { return linger_; }
  bool outlives_fin() override {
    finished_ = true;
    return open_streams() > 0;
  }

  http::ClientWire wire_;
  Owner* owner_;
  Duration linger_ = linger_idle;
  bool finished_ = false;
};

}  // namespace reprise::net
