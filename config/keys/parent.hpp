// Parses and checks `parent`: the proxy through which all requests go, and its credentials.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// Parses `http[s]://[user[:password@]]host:port`, with user and password percent-encoded if needed (RFC 3986
/// 3.2.1). Rejects `***` as the password, because `parent_text` prints `***` in place of every password. The
/// reason of a rejection never quotes the text.
Parsed<Parent> parse_parent(std::string_view);
/// Returns the URL of the parent, with `***` in place of the password.
std::string parent_text(const Parent&);
/// Parses an item of `except`: a host name, `*.suffix`, a network, or an address, to which /32 or /128 is
/// added.
Parsed<std::string> parse_exception(std::string_view);
/// Checks a parent that is written as a mapping: `url` is required, and `ca_file` needs a parent that is
/// reached over TLS.
void check_parent(const Node& root, Report&);

}  // namespace reprise::config
