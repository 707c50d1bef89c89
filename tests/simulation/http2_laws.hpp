// Law of the streams of HTTP/2: the end of a stream or of a connection has exactly the outcomes of its own
// streams (rows M56, M58 and M67).
#pragma once

#include <string_view>

#include "tests/simulation/book.hpp"

namespace reprise::simulation {

/// Returns the law that the attempts of the request have broken; empty if they have broken none.
std::string_view broken_stream_law(const Account& account);

}  // namespace reprise::simulation
