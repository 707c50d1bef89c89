#include "proxy/net/first_words.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::net {

using http::FirstWords;

namespace {

/// Waits for the upstream's first byte, and then ends the client's read.
class Ear {
 public:
  Ear(Loop& loop, Stream& upstream, Stream& client) : upstream_(upstream), client_(client), joined_(loop.io) {
    asio::co_spawn(loop.io, listen(*this), or_abort);
  }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  bool heard() const { return heard_; }
  /// Must be awaited before it is destroyed.
  Task<void> stop();

 private:
  static Task<void> listen(Ear&);

  Stream& upstream_;
  Stream& client_;
  Timer joined_;
  bool stopped_ = false;
  bool heard_ = false;
  bool over_ = false;
};

// The client's read has the limit: when it ends, so does this.
Task<void> Ear::listen(Ear& ear) {
  if (!ear.stopped_) co_await ear.upstream_.wait_readable();
  ear.heard_ = ear.upstream_.open() && ear.upstream_.unread() == Unread::bytes;
  if (ear.heard_ && !ear.stopped_) ear.client_.end_read();
  ear.over_ = true;
  ear.joined_.cancel();
}

Task<void> Ear::stop() {
  stopped_ = true;
  if (!over_) upstream_.end_read();
  while (!over_) {
    joined_.expires_at(Instant::max());
    co_await joined_.async_wait(as_result);
  }
}

}  // namespace

Task<FirstWords> first_words(Loop& loop, Stream& client, Buffer& from_client, Stream& upstream,
                             const http::Connect& tunnel) {
  const std::size_t longest_target = loop.head_limits.target_bytes;
  http::Heard heard{from_client.view()};
  FirstWords words = http::judge_first_words(heard, tunnel, longest_target);
  if (words != FirstWords::more) co_return words;
  Ear ear(loop, upstream, client);
  client.limit_read(loop.shared.first_words_limit);
  while (words == FirstWords::more) {
    if (from_client.room_left() == 0) from_client.grow();
    const auto [error, bytes] = co_await client.read_some(from_client.room());
    if (!error) from_client.commit(bytes);
    heard = {from_client.view(), ear.heard(), bool(error)};
    words = http::judge_first_words(heard, tunnel, longest_target);
  }
  client.unlimit_read();
  static_cast<void>(client.take_limit_hit());
  co_await ear.stop();
  co_return words;
}

}  // namespace reprise::net
