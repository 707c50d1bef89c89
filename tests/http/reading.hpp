// Helpers that parse heads for the tests of this folder and keep the text that a head points into.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

inline void PrintTo(Rejection cause, std::ostream* out) { *out << word(cause); }
inline void PrintTo(const Parsed& parsed, std::ostream* out) {
  if (const Rejection* cause = std::get_if<Rejection>(&parsed)) {
    *out << word(*cause);
  } else {
    *out << (std::get<Progress>(parsed) == Progress::complete ? "complete" : "partial");
  }
}

inline const Parsed complete = Progress::complete;
inline const Parsed partial = Progress::partial;

/// A request text with the result of `parse_request`.
struct ReadRequest {
  explicit ReadRequest(std::string bytes, const HeadLimits& limits = {})
      : text(std::move(bytes)), parsed(parse_request(text, limits, head)) {}
  ReadRequest(const ReadRequest&) = delete;

  std::string text;
  RequestHead head;
  Parsed parsed;
};

struct ReadResponse {
  explicit ReadResponse(std::string bytes, std::string_view method = "GET", const HeadLimits& limits = {})
      : text(std::move(bytes)), parsed(parse_response(text, limits, method, head)) {}
  ReadResponse(const ReadResponse&) = delete;

  std::string text;
  ResponseHead head;
  Parsed parsed;
};

/// Returns a GET of `http://h/` with these lines after Host. `lines` ends with CRLF.
inline std::string get(const std::string& lines) {
  return "GET http://h/ HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}
inline std::string post(const std::string& lines) {
  return "POST http://h/ HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}
inline std::string ok(const std::string& lines) { return "HTTP/1.1 200 OK\r\n" + lines + "\r\n"; }

inline Parsed request(const std::string& text, const HeadLimits& limits = {}) {
  return ReadRequest(text, limits).parsed;
}
inline Parsed response(const std::string& text, std::string_view method = "GET",
                       const HeadLimits& limits = {}) {
  return ReadResponse(text, method, limits).parsed;
}

}  // namespace reprise::http
