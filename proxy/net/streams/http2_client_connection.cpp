#include "proxy/net/streams/http2_client_connection.hpp"

#include "proxy/net/io/tick.hpp"

namespace reprise::net {

Http2ClientConnection::Http2ClientConnection(std::unique_ptr<Stream> stream, http::TargetForm form,
                                             const http::ClientWire::Limits& limits,
                                             http::StreamMemory& memory, Owner& owner)
    : Http2Connection(std::move(stream)), wire_(form, limits, memory), owner_(&owner) {}

void Http2ClientConnection::begin(std::string_view early) {
  start(early);
  changed();
}

void Http2ClientConnection::receive(std::string_view bytes) { wire_.receive(bytes, Tick::now()); }

// Streams begin only after all bytes at hand were processed: a stream that was reset in the same read causes
// no work (row M92).
void Http2ClientConnection::changed() {
  const auto self = shared_from_this();  // the owner may let go of the connection
  for (const http::StreamId id : wire_.take_begun()) {
    if (owner_ == nullptr) {
      wire_.release(id);
    } else {
      owner_->serve(id);
    }
  }
  if (owner_ != nullptr) owner_->changed();
}

void Http2ClientConnection::abort() {
  wire_.reset_all(http::Http2Code::cancel);
  close();
}

void Http2ClientConnection::say_goodbye() {
  wire_.say_goodbye();
  flush();
}

void Http2ClientConnection::announce_goodbye() {
  wire_.announce_goodbye();
  flush();
}

}  // namespace reprise::net
