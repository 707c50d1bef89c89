// The variables with which OpenTelemetry configures every program in the same way: OTEL_*.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"

namespace reprise::config {

/// A name and its value, in the order of the variable.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// What the variables ask for. Bad values are left out and named; an empty value counts as absent.
struct OtelVariables {
  std::optional<Collector> collector;  ///< OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT; without headers
  std::string endpoint_variable;       ///< which of the two named it
  NamedValues headers;                 ///< OTEL_EXPORTER_OTLP_[TRACES_]HEADERS; values are secrets
  std::optional<std::string> ca_file;  ///< OTEL_EXPORTER_OTLP_[TRACES_]CERTIFICATE
  NamedValues resource;  ///< OTEL_RESOURCE_ATTRIBUTES, and `service.name` of OTEL_SERVICE_NAME, which wins
  std::vector<std::string> warnings;
  std::vector<std::string> of_unheeded;  ///< warnings of variables without effect, if there is a collector
};

/// Reads the variables by `lookup`. Everything is absent if OTEL_SDK_DISABLED is true.
OtelVariables otel_variables(const std::function<std::optional<std::string>(std::string_view name)>& lookup);

/// The collector of a configuration: that of its file if it has the key `trace.otlp` (`said`), else that of
/// the variables, unless it is a listener of this proxy. Headers and certificates of the variables are added.
/// What is wrong becomes a warning in `warnings`.
void follow_otel(const OtelVariables&, bool said, Settings&, std::vector<std::string>& warnings);

}  // namespace reprise::config
