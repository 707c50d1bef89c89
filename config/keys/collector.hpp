// `trace.otlp` of a configuration: the collector that takes spans over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// `http://host:port[/path]`; without a path, `/v1/traces` (OTLP 1.3, OTLP/HTTP Request). The port must be
/// written: what a URL means without one is 80, and no collector listens there.
Parsed<Collector> parse_collector(std::string_view);
std::string collector_text(const Collector&);
/// Warns of what is most likely a mistake, refuses one of our own listeners.
void check_collector(const Node& root, const Settings&, Report&);

}  // namespace reprise::config
