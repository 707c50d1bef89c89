#include "proxy/forward/tunnel/first_words.hpp"

#include <optional>

#include "proxy/forward/tunnel/first_byte_watch.hpp"

namespace reprise::forward {

using http::FirstWords;

Task<FirstWords> first_words(net::Stream& client, net::Buffer& from_client, net::Stream* upstream,
                             const http::Connect& tunnel, std::size_t longest_target, FirstWordsTime time) {
  http::Heard heard{from_client.view()};
  FirstWords words = http::judge_first_words(heard, tunnel, longest_target);
  if (words != FirstWords::more) co_return words;
  // If the client has left since the last wait, its end is not reported again, and a read would wait forever.
  heard.waited_enough = bool(heard_end(client));
  if (heard.waited_enough) co_return http::judge_first_words(heard, tunnel, longest_target);
  std::optional<FirstByteWatch> upstream_watch;
  if (upstream != nullptr) upstream_watch.emplace(*upstream, client);
  client.limit_read(from_client.empty() ? time.silence : time.half_word);
  while (words == FirstWords::more) {
    if (from_client.room_left() == 0) from_client.grow();
    auto [error, bytes] = co_await client.read_some(from_client.room());
    // A request that arrived together with the upstream's end can still be served and retried.
    const bool upstream_ended = upstream_watch && upstream_watch->ended();
    if (error && upstream_ended && client.unread() == net::Unread::bytes) {
      client.end_limit();
      std::tie(error, bytes) = co_await client.read_some(from_client.room());
    }
    if (!error && from_client.empty() && time.half_word != time.silence) client.limit_read(time.half_word);
    if (!error) from_client.commit(bytes);
    heard = {from_client.view(), upstream_watch && upstream_watch->heard(), error || upstream_ended};
    words = http::judge_first_words(heard, tunnel, longest_target);
  }
  client.end_limit();
  if (upstream_watch) co_await upstream_watch->stop();
  co_return words;
}

}  // namespace reprise::forward
