// `parent:` of a configuration: the proxy that everything goes through, and what it asks us to prove.
#pragma once

#include <string>
#include <string_view>

#include "config/scalar.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// `http://[user[:password]@]host:port`, user and password percent-encoded where they need it (RFC 3986
/// 3.2.1). Refuses what `parent_text` prints for a password. The reason never tells a part of the text.
Parsed<Parent> parse_parent(std::string_view);
/// The same with `***` for the password.
std::string parent_text(const Parent&);

}  // namespace reprise::config
