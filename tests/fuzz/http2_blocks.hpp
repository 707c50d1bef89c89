// Header blocks for fuzz targets, and what libnghttp2 says of them.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/http2_frames.hpp"

namespace reprise::fuzz {

/// What libnghttp2 says of one header block.
struct Opinion {
  bool received = false;
  bool has_invalid_field = false;

  bool accepted() const { return received && !has_invalid_field; }
};

/// A session of libnghttp2 that reads one header block.
class Judge {
 public:
  /// `make`: nghttp2_session_client_new or nghttp2_session_server_new.
  explicit Judge(int (*make)(nghttp2_session**, const nghttp2_session_callbacks*, void*)) {
    nghttp2_session_callbacks* set = nullptr;
    nghttp2_session_callbacks_new(&set);
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        set, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_HEADERS) static_cast<Opinion*>(user)->received = true;
          return 0;
        });
    nghttp2_session_callbacks_set_on_invalid_header_callback(
        set, [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t, const std::uint8_t*,
                std::size_t, std::uint8_t, void* user) {
          static_cast<Opinion*>(user)->has_invalid_field = true;
          return 0;
        });
    nghttp2_session* made = nullptr;
    make(&made, set, &opinion_);
    nghttp2_session_callbacks_del(set);
    session_.reset(made);
    const nghttp2_settings_entry extended_connect{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1};
    const bool is_server = make == nghttp2_session_server_new;
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, &extended_connect, is_server ? 1 : 0);
  }

  nghttp2_session* session() const { return session_.get(); }
  static std::uint8_t* text(std::string_view bytes) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }
  void discard_output() {
    const std::uint8_t* sent = nullptr;
    while (nghttp2_session_mem_send(session(), &sent) > 0) {
    }
  }
  Opinion read(std::string_view bytes) {
    if (nghttp2_session_mem_recv(session(), text(bytes), bytes.size()) < 0) opinion_.received = false;
    return opinion_;
  }

 private:
  Opinion opinion_;
  std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session_{nullptr, nghttp2_session_del};
};

/// Cuts the input into fields, `name=value` each, which `|` separates.
inline play::FieldList fields_of(std::string_view text) {
  play::FieldList fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    const std::string_view field = text.substr(0, end);
    const std::size_t middle = std::min(field.find('='), field.size());
    fields.emplace_back(field.substr(0, middle), field.substr(std::min(middle + 1, field.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

}  // namespace reprise::fuzz
