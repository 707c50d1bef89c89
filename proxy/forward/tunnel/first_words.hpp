// The moment after a stream stands: both ends are listened to until one has spoken.
#pragma once

#include "proxy/http/message/first_bytes.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// How long the first words are waited for.
struct FirstWordsTime {
  Duration silence;    ///< while the client has sent nothing
  Duration half_word;  ///< from the client's first byte on; if equal to `silence`, one limit covers both
};

/// `upstream`: null while there is none. A request target of more than `longest_target` bytes makes it
/// opaque. Reads what the client sends into `from_client`, behind what is there, and nothing of the
/// upstream's. Never `more`. The end of either side, FIN or RST, ends the wait: the tunnel finds out, and
/// passes it on at once (row G7). Both streams work on afterwards.
Task<http::FirstWords> first_words(net::Stream& client, net::Buffer& from_client, net::Stream* upstream,
                                   const http::Connect& tunnel, std::size_t longest_target,
                                   FirstWordsTime time);

}  // namespace reprise::forward
