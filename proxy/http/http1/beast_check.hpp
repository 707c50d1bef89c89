// The second opinion: Boost.Beast's parser reads every
// accepted head again, and must come to the same framing.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/http1/guard.hpp"

namespace reprise::http {

/// Nothing if Beast agrees about where the head ends, the start line, the number of fields, the framing and
/// whether the connection stays. `buffer` is what the guard read `head` from.
/// Stores nothing, allocates nothing.
std::optional<Rejection> second_opinion(std::string_view buffer, const RequestHead& head);

/// The same, of a head that was made clean. A head with oddities is shown in its plain form: start line and
/// fields as the guard understood them, without those that it disregards.
std::optional<Rejection> second_opinion(const ResponseHead& head, std::string_view buffer,
                                        std::string_view request_method, const Oddities&);

}  // namespace reprise::http
