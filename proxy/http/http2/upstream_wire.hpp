// The protocol state of one HTTP/2 connection to an upstream, without I/O: converts requests to bytes and
// bytes to responses.
#pragma once

#include "proxy/http/http2/response_text.hpp"
#include "proxy/http/http2/wire.hpp"

namespace reprise::http {

/// Opens streams; the messages of the peer are responses.
class UpstreamWire final : public Wire {
 public:
  /// Queues the preface and the SETTINGS. `limits`: the limits for each response head. `memory`: allows
  /// larger windows of streams.
  UpstreamWire(const HeadLimits& limits, StreamMemory& memory);

  /// Returns true once the upstream's SETTINGS have arrived. Until then, no stream may be opened (row M25).
  bool ready() const { return ready_; }
  /// Returns how many more streams may be opened now (row M26). 0 if the connection accepts none.
  std::size_t room() const;
  /// Returns true if the upstream's SETTINGS allow no stream at all.
  bool allows_no_stream() const { return most_streams() == 0; }
  /// Returns true if the upstream's SETTINGS permit an extended CONNECT (RFC 8441 3).
  bool permits_websockets() const;
  /// Opens a stream and queues the request's head. `whole`: the request has no body. Precondition: `room()`
  /// is not 0.
  StreamId open(const FieldBlock&, bool whole);
  /// Opens a stream for an extended CONNECT. A 2xx that accepts it arrives as a 101, and the bodies of both
  /// messages are then the bytes of the WebSocket. Precondition: as that of `open`.
  StreamId open_websocket(const FieldBlock&);

 private:
  std::size_t most_streams() const;
  void begin_block(StreamId) override;
  void add_field(std::string_view name, std::string_view value, bool) override { block_.add(name, value); }
  void refuse_field(std::string_view name, std::string_view value) override { block_.refuse(name, value); }
  void end_block(StreamId, bool ends) override;
  void take_settings() override { ready_ = true; }
  void take_goaway(StreamId last, Http2Code) override;
  bool was_violated() const override;
  void stream_closed() override { --active_; }

  HeadLimits limits_;
  ResponseText block_;      ///< the header block that is being decoded
  std::size_t active_ = 0;  ///< streams that libnghttp2 counts as open
  bool ready_ = false;
};

}  // namespace reprise::http
