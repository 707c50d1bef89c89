// For tests of UpstreamWire: a connection whose upstream is the test, frame by frame.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/http2/request_fields.hpp"
#include "proxy/http/http2/upstream_wire.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::http {

inline constexpr std::string_view post =
    "POST /pay?a=1 HTTP/1.1\r\nHost: a.test\r\nContent-Type: text/plain\r\n\r\n";

/// Sends requests, and receives what the test writes in the name of the upstream.
class WireBench {
 public:
  explicit WireBench(StreamMemory& memory, const HeadLimits& limits = {}) : wire(limits, memory) {}

  /// Writes everything that is queued, and returns the number of bytes.
  std::size_t write_all() {
    std::size_t written = 0;
    for (;;) {
      const std::string_view bytes = wire.output();
      if (bytes.empty()) return written;
      reader.feed(bytes);
      wire.written(bytes.size());
      written += bytes.size();
    }
  }
  /// Writes everything that is queued, and returns the frames.
  std::vector<play::Frame> flush() {
    std::vector<play::Frame> frames;
    write_all();
    for (play::Frame frame; reader.next(frame);) frames.push_back(frame);
    return frames;
  }
  void connect(const std::vector<std::pair<unsigned, std::uint32_t>>& entries = {}) {
    flush();
    wire.receive(play::settings(entries) + play::frame(play::FrameType::settings, play::ack, 0, ""));
    flush();
  }
  StreamId open(std::string_view head = post, bool whole = true) {
    write_request_fields(head, "http", block);
    return wire.open(block, whole);
  }
  /// Opens a stream whose request has no body, and writes its frames.
  StreamId ask(std::string_view head = post) {
    const StreamId id = open(head);
    flush();
    return id;
  }
  /// Passes on what has arrived of the body, and returns it.
  std::string pass_on(StreamId id) {
    std::string body = wire.take_body(id);
    wire.passed_on(id);
    return body;
  }

  UpstreamWire wire;
  play::FrameReader reader;
  FieldBlock block;
};

/// A bench whose streams keep the least window, so that no frame is sent only because of the memory.
class WireTest : public ::testing::Test, protected WireBench {
 protected:
  WireTest() : WireBench(no_memory_) {}

 private:
  static inline StreamMemory no_memory_{0};
};

}  // namespace reprise::http
