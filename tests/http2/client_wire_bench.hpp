// Fixture for tests of ClientWire: a wire whose client has sent its preface and SETTINGS.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/http2/client_wire.hpp"
#include "proxy/http/http2/response_fields.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::http {

using play::FieldList;
using play::Frame;
using play::FrameType;

inline constexpr std::string_view client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline const FieldList get_fields = {
    {":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/x"}};
inline const FieldList post_fields = {
    {":method", "POST"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/x"}};

class ClientWireBench : public ::testing::Test {
 protected:
  explicit ClientWireBench(const HeadLimits& heads = {}, unsigned streams = 100)
      : wire(TargetForm::origin, {heads, streams}, memory) {
    receive(std::string(client_preface) + play::settings());
  }

  void receive(std::string_view bytes) { wire.receive(bytes, now); }
  /// Returns the frames that the wire has to write.
  std::vector<Frame> flush() {
    std::vector<Frame> frames;
    for (;;) {
      const std::string_view bytes = wire.output();
      if (bytes.empty()) break;
      reader.feed(bytes);
      wire.written(bytes.size());
    }
    for (Frame frame; reader.next(frame);) frames.push_back(frame);
    return frames;
  }
  /// Returns the frames of that type that the wire has to write.
  std::vector<Frame> flush(FrameType type) {
    std::vector<Frame> some = flush();
    std::erase_if(some, [type](const Frame& frame) { return frame.type != type; });
    return some;
  }
  void respond(StreamId id, std::string_view head, bool whole) {
    write_response_fields(head, block);
    wire.respond(id, block, whole);
  }

  StreamMemory memory{1 << 20};
  ClientWire wire;
  play::FrameReader reader;
  FieldBlock block;
  policy::Instant now{std::chrono::hours(1)};
};

}  // namespace reprise::http
