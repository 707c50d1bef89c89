#include "tests/simulation/http2_windows.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>

// The linker replaces each call of a function F by a call of __wrap_F, and gives the function the name
// __real_F (option --wrap).
extern "C" {
int real_set_local_window_size(nghttp2_session*, std::uint8_t, std::int32_t,
                               std::int32_t) asm("__real_nghttp2_session_set_local_window_size");
int real_consume_connection(nghttp2_session*, std::size_t) asm("__real_nghttp2_session_consume_connection");

int wrapped_set_local_window_size(nghttp2_session*, std::uint8_t, std::int32_t,
                                  std::int32_t) asm("__wrap_nghttp2_session_set_local_window_size");
int wrapped_consume_connection(nghttp2_session*,
                               std::size_t) asm("__wrap_nghttp2_session_consume_connection");
}

namespace reprise::simulation {

thread_local Http2Windows http2_windows;

}  // namespace reprise::simulation

using reprise::simulation::http2_windows;

int wrapped_set_local_window_size(nghttp2_session* session, std::uint8_t flags, std::int32_t stream,
                                  std::int32_t window) {
  if (stream == 0 && http2_windows.connection > 0)
    window = std::min(window, static_cast<std::int32_t>(http2_windows.connection));
  return real_set_local_window_size(session, flags, stream, window);
}

int wrapped_consume_connection(nghttp2_session* session, std::size_t bytes) {
  return http2_windows.keeps ? 0 : real_consume_connection(session, bytes);
}
