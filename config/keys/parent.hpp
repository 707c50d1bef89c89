// `parent:` of a configuration: the proxy that everything goes through, and what it asks us to prove.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// `http://[user[:password]@]host:port`, or with `https`, user and password percent-encoded
/// where they need it (RFC 3986 3.2.1). Refuses what `parent_text` prints for a password. The
/// reason never tells a part of the text.
Parsed<Parent> parse_parent(std::string_view);
/// The same with `***` for the password.
std::string parent_text(const Parent&);
/// An item of `except`: a host name, `*.suffix`, a network, or an address, which gets /32 or /128.
Parsed<std::string> parse_exception(std::string_view);
/// Where it is a mapping: its url must be there, and `ca_file` is for one over TLS.
void check_parent(const Node& root, Report&);

}  // namespace reprise::config
