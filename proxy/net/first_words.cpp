#include "proxy/net/first_words.hpp"

#include "proxy/net/ear.hpp"

namespace reprise::net {

using http::FirstWords;

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
