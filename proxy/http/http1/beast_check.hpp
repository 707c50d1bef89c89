// Reads every accepted head again with Boost.Beast's parser, which must find the same framing (the second
// opinion).
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/http1/guard.hpp"

namespace reprise::http {

/// Reads a request head again with Beast's parser. Returns nothing if Beast agrees on the end of the head,
/// the start line, the number of fields, the framing, and whether the connection stays open. Otherwise
/// returns the cause for rejecting the request. `buffer` is the text from which the framing guard read
/// `head`. Stores nothing. Allocates only for HTTP/1.2 to 1.9.
std::optional<Rejection> second_opinion(std::string_view buffer, const RequestHead& head);

/// Reads a response head again with Beast's parser. Returns nothing if Beast agrees with the framing guard,
/// otherwise the cause for rejecting the response. Reads the text of the head that is forwarded
/// (ResponseHead::text). If the head has oddities, reads a simplified text instead: the start line and the
/// fields as the framing guard understood them, without the fields that the framing guard ignores.
std::optional<Rejection> second_opinion(const ResponseHead& head, std::string_view buffer,
                                        std::string_view request_method, const Oddities&);

}  // namespace reprise::http
