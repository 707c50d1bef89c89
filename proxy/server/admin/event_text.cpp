#include "proxy/server/admin/event_text.hpp"

namespace reprise::server {

void append_event(std::string& out, std::string_view name, std::string_view text) {
  out.append("event: ").append(name).append("\n");
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    out.append("data: ").append(text.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  out += '\n';
}

std::string event_stream_head(unsigned version) {
  std::string head(version == 10 ? "HTTP/1.0" : "HTTP/1.1");
  return head.append(
      " 200 OK\r\n"
      "Content-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n\r\n");
}

}  // namespace reprise::server
