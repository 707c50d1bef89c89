// `trace.otlp` of a configuration: the collector that takes spans over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// `http://host:port[/path]` or `https://host[:port][/path]`; without a path, `/v1/traces` (OTLP 1.3,
/// OTLP/HTTP Request). `http_port`: the port of an `http` URL without one; 0: it must be written, because no
/// collector listens at port 80.
Parsed<Collector> parse_collector(std::string_view, std::uint16_t http_port = 0);
std::string collector_text(const Collector&);
/// True if the collector is a listener of this proxy: every span sent there would make the next one.
bool is_own_listener(const Collector&, const Settings&);
/// True for the port at which collectors take OTLP over gRPC.
bool has_grpc_port(const Collector&);
/// Warns of what is most likely a mistake, refuses one of our own listeners.
void check_collector(const Node& root, const Settings&, Report&);

}  // namespace reprise::config
