#include "proxy/forward/request/response.hpp"

#include <cassert>
#include <charconv>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::forward {
namespace {

// Applies the upstream's `Keep-Alive: timeout=N`. Subtracts one second, because the upstream has started its
// timer earlier (row F9).
void apply_keep_alive(net::UpstreamConnection& connection, const http::ResponseHead& head) {
  const http::FieldLine* field = head.find(http::FieldId::keep_alive);
  if (field == nullptr) return;
  constexpr std::string_view key = "timeout=";
  const std::string value = policy::lower(field->value);
  const std::size_t place = value.find(key);
  if (place == std::string::npos) return;
  std::int64_t seconds = 0;
  const char* digits = value.data() + place + key.size();
  if (std::from_chars(digits, value.data() + value.size(), seconds).ec != std::errc()) return;
  if (seconds < 0 || seconds > 86400) return;
  connection.set_idle_life(std::chrono::seconds(seconds - 1));
}

}  // namespace

net::BodySource& Response::begin_body() {
  if (connection.is_http2()) {
    begun = true;
    return body_source();
  }
  if (begun) {
    reader.lie_behind(buffer);
  } else {
    reader.begin(connection.byte_stream(), buffer, head.framing, http::Spelling::tolerant);
  }
  begun = true;
  return reader;
}

Task<void> Response::stop_sending() {
  if (sending == nullptr) co_return;
  Upload& upload = sending->upload();
  co_await upload.stop();
  reusable = reusable && upload.end() == UploadEnd::sent;
  sending.reset();
}

// An attempt that got no bytes and no connection changes nothing.
bool Response::is_clear() const {
  return number == 0 && !connection && buffer.is_untouched() && head.bytes == 0 && !begun && body.empty() &&
         trailers.empty() && sending == nullptr;
}

// A request has three responses, and most requests use only one of them.
void Response::clear() {
  if (is_clear()) return;
  assert(!is_sending());
  sending.reset();
  number = 0;
  connection.reset();
  reader.drop();
  head.reset();
  net::empty_out(head.fields);
  buffer.clear();
  buffer.give_back();
  give_back(body);
  net::empty_out(trailers);
  broken.reset();
  begun = overtook = kept = reusable = false;
}

void give_back(std::string& text) {
  if (text.capacity() > net::block_bytes) {
    std::string().swap(text);
  } else {
    text.clear();
  }
}

void keep_whole(net::Pool& pool, Response& response) {
  net::BodySource& source = response.body_source();
  response.trailers = source.trailers();
  response.kept = true;
  const bool surplus = source.has_surplus();
  source.drop();
  finish_connection(pool, response, surplus);
}

void finish_connection(net::Pool& pool, Response& response, bool surplus) {
  if (!response.connection) return;
  response.reusable = response.reusable && !surplus;
  if (response.overtook) return;
  if (response.reusable && !response.connection.is_http2()) {
    apply_keep_alive(response.connection.connection(), response.head);
    pool.give_back(response.connection.take_connection());
  }
  response.connection.reset();
}

Task<void> keep_response(net::Pool& pool, Response& response, std::size_t most, Instant until) {
  net::BodySource& reader = response.begin_body();
  bool whole = false;
  for (;;) {
    std::string_view piece;
    const net::BodyStep step = co_await reader.next_until(until, piece);
    whole = step == net::BodyStep::end && response.body.size() <= most;
    if (step != net::BodyStep::piece || response.body.size() + piece.size() > most) break;
    response.body.append(piece);
  }
  if (whole) {
    keep_whole(pool, response);
  } else {
    response.clear();
  }
}

}  // namespace reprise::forward
