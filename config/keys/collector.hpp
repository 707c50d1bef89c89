// Parses and checks `trace.otlp`: the collector that receives spans over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config {

/// Parses `http://host:port[/path]` or `https://host[:port][/path]`. The default path is `/v1/traces` (OTLP
/// 1.3, OTLP/HTTP Request). `http_port` is the default port of an `http` URL. If `http_port` is 0, an `http`
/// URL must have a port, because collectors do not use port 80.
Parsed<Collector> parse_collector(std::string_view, std::uint16_t http_port = 0);
std::string collector_text(const Collector&);
/// Returns true if the collector's address is a listener of this proxy. Then every exported span would cause
/// another span.
bool is_own_listener(const Collector&, const Settings&);
/// Returns true if the collector's port is the usual port of OTLP over gRPC.
bool has_grpc_port(const Collector&);
/// Warns about likely mistakes. Rejects a collector that is a listener of this proxy.
void check_collector(const Node& root, const Settings&, Report&);

}  // namespace reprise::config
