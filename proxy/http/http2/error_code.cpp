#include "proxy/http/http2/error_code.hpp"

#include <array>
#include <cstddef>

namespace reprise::http {

std::string_view word(Http2Code code) {
  static constexpr std::array<std::string_view, 14> words = {"no_error",
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
                                                             "http_1_1_required"};
  const auto number = static_cast<std::size_t>(code);
  return number < words.size() ? words[number] : "other";
}

}  // namespace reprise::http
