// Reads the standard environment variables of OpenTelemetry (OTEL_*).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"

namespace reprise::config {

/// Names and values in the order of the variable.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// The values of the variables. A bad value is left out and causes a warning. An empty value counts as
/// absent.
struct OtelVariables {
  std::optional<Collector> collector;  ///< OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT; without headers
  std::string endpoint_variable;       ///< the one of the two variables that set it
  NamedValues headers;                 ///< OTEL_EXPORTER_OTLP_[TRACES_]HEADERS; values are secrets
  std::optional<std::string> ca_file;  ///< OTEL_EXPORTER_OTLP_[TRACES_]CERTIFICATE
  NamedValues resource;  ///< OTEL_RESOURCE_ATTRIBUTES, and `service.name` of OTEL_SERVICE_NAME, which wins
  std::vector<std::string> warnings;
  std::vector<std::string>
      ignored_warnings;  ///< warnings about ignored variables; only for use with a collector
};

/// Reads the variables with `lookup`. Everything is absent if OTEL_SDK_DISABLED is true.
OtelVariables otel_variables(const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// Sets the collector of a configuration and adds the headers and certificate of the variables. The file's
/// collector wins if the file has the key `trace.otlp` (`said`). Otherwise the collector of the variables is
/// used, unless it is a listener of this proxy. Appends problems to `warnings`.
void follow_otel(const OtelVariables&, bool is_in_file, Settings&, std::vector<std::string>& warnings);

}  // namespace reprise::config
