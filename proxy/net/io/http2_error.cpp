#include "proxy/net/io/http2_error.hpp"

namespace reprise::net {
namespace {

// GCC warns because the destructor of Boost's error_category is protected and not virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Http2Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "http2"; }
  std::string message(int value) const override {
    switch (static_cast<Http2Error>(value)) {
      case Http2Error::reset: return "the stream was reset";
      case Http2Error::refused: return "the stream was refused";
      case Http2Error::needs_http1: return "the upstream requires HTTP/1.1";
      case Http2Error::above_last_id: return "the connection is going away";
      case Http2Error::malformed: return "the upstream violated HTTP/2";
      case Http2Error::no_room: return "the connection accepts no further stream";
      case Http2Error::not_http2: break;
    }
    return "the upstream does not speak HTTP/2";
  }
};
#pragma GCC diagnostic pop

}  // namespace

ErrorCode make_error_code(Http2Error error) {
  static const Http2Category category;
  return {static_cast<int>(error), category};
}

}  // namespace reprise::net
