// What `security.deny` leaves open that the default list denies (row L14).
#pragma once

#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// A warning, at the list, that names what is open now. Nothing where the file has no list of its own.
void check_deny(const Node& root, const Deny&, Report&);

}  // namespace reprise::config
