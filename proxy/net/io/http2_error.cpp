#include "proxy/net/io/http2_error.hpp"

#include "proxy/net/io/error_category.hpp"

namespace reprise::net {
namespace {

const char* words_of(Http2Error error) {
  switch (error) {
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

}  // namespace

ErrorCode make_error_code(Http2Error error) {
  static const ErrorCategory<Http2Error> category("http2", words_of);
  return {static_cast<int>(error), category};
}

}  // namespace reprise::net
