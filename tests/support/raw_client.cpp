#include "tests/support/raw_client.hpp"

namespace reprise::play {

void receive(RawSocket& socket, HttpReader& reader, const HttpReader::Sink& body, std::string* as_sent) {
  for (;;) {
    const std::size_t used = reader.feed(socket.received(), body);
    const std::string taken = socket.take(used);
    if (as_sent != nullptr) as_sent->append(taken);
    if (reader.over()) return;
    if (socket.read_more()) continue;
    if (socket.wire() == Wire::fin) reader.finish();
    return;
  }
}

WireResponse RawClient::read(HttpReader::Kind kind) {
  WireResponse response;
  HttpReader reader(kind);
  receive(socket_, reader, [&](std::string_view piece) { response.body.append(piece); });
  if (!reader.head_is_whole()) return response;
  response.status = reader.status();
  response.head = reader.head();
  response.body.append(reader.trailers());
  response.chunked = reader.chunked();
  response.whole = reader.complete();
  return response;
}

}  // namespace reprise::play
