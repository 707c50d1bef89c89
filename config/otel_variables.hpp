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

/// Pairs of name and value, in the order in which the environment variable lists them.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// The values of the OTEL_* variables. An invalid value is omitted and causes a warning. An empty value
/// counts as absent.
struct OtelVariables {
  std::optional<Collector> collector;  ///< from OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT, without headers
  std::string endpoint_variable;       ///< name of the variable that set the endpoint
  NamedValues headers;                 ///< OTEL_EXPORTER_OTLP_[TRACES_]HEADERS; values are secrets
  std::optional<std::string> ca_file;  ///< OTEL_EXPORTER_OTLP_[TRACES_]CERTIFICATE
  NamedValues resource;  ///< OTEL_RESOURCE_ATTRIBUTES; OTEL_SERVICE_NAME wins for `service.name`
  std::vector<std::string> warnings;
  std::vector<std::string>
      ignored_warnings;  ///< warnings about ignored variables; relevant only if there is a collector
};

/// Reads the variables with `lookup`. All values are absent if OTEL_SDK_DISABLED is true.
OtelVariables otel_variables(const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// Applies the OTEL_* environment variables to the settings: headers and certificate always, and the
/// collector unless the file has the key `trace.otlp` (`is_in_file`). Ignores a collector that is a listener
/// of this proxy. Appends problems to `warnings`.
void follow_otel(const OtelVariables&, bool is_in_file, Settings&, std::vector<std::string>& warnings);

}  // namespace reprise::config
