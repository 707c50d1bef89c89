#include "proxy/http/http2/error_code.hpp"

#include <array>

namespace reprise::http {

std::string_view word(Http2Code code) {
  static constexpr std::array<std::string_view, http2_word_count> words = {"no_error",
                                                                           "protocol_error",
                                                                           "internal_error",
                                                                           "flow_control_error",
                                                                           "settings_timeout",
                                                                           "stream_closed",
                                                                           "frame_size_error",
                                                                           "refused_stream",
                                                                           "cancel",
                                                                           "compression_error",
                                                                           "connect_error",
                                                                           "enhance_your_calm",
                                                                           "inadequate_security",
                                                                           "http_1_1_required",
                                                                           "other"};
  return words[place_of(code)];
}

}  // namespace reprise::http
