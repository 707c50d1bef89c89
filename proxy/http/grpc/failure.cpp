#include "proxy/http/grpc/failure.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

using policy::GrpcStatus;

// Encodes a byte of grpc-message as gRPC requires (doc/PROTOCOL-HTTP2.md, Percent-Encoded).
void append_encoded(char c, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  const bool is_plain = byte >= 0x20 && byte <= 0x7e && c != '%';
  if (is_plain) {
    out += c;
  } else {
    out += {'%', digits[byte >> 4U], digits[byte & 0xfU]};
  }
}

void append_message(std::string_view body, std::string& out) {
  if (body.ends_with('\n')) body.remove_suffix(1);
  for (const char c : body) {
    if (c == '\n') {
      out += "; ";
    } else {
      append_encoded(c, out);
    }
  }
}

}  // namespace

GrpcStatus status_of_failure(int http_status, bool calls_deadline) {
  switch (http_status) {
    case 502:
    case 503:
    case 504: return calls_deadline ? GrpcStatus::deadline_exceeded : GrpcStatus::unavailable;
    case 403: return GrpcStatus::permission_denied;
    case 413:
    case 431: return GrpcStatus::resource_exhausted;
    default: return GrpcStatus::internal;
  }
}

void write_call_failure(const Reply& reply, GrpcStatus status, std::string_view date,
                        std::string_view extra_fields, std::string& out) {
  ascii::append(out, "HTTP/1.1 200 OK\r\nDate: ", date, "\r\nContent-Type: application/grpc\r\ngrpc-status: ",
                std::to_string(static_cast<int>(status)), "\r\ngrpc-message: ");
  append_message(reply.body, out);
  out += "\r\n";
  if (!reply.proxy_status.empty()) ascii::append(out, "Proxy-Status: ", reply.proxy_status, "\r\n");
  ascii::append(out, extra_fields, "\r\n");
}

}  // namespace reprise::http
