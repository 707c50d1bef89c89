#include "config/otel_variables.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "config/keys/address.hpp"
#include "config/keys/collector.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

constexpr std::string_view exporter = "OTEL_EXPORTER_OTLP_";

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Returns the value of a variable. Returns nothing if the variable is empty or not set.
std::optional<std::string> value_of(const Lookup& lookup, std::string_view name) {
  const auto value = lookup(name);
  const std::string_view text = value ? without_blanks(*value) : std::string_view();
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

struct Found {
  std::string variable;
  std::string value;
};

// Returns OTEL_EXPORTER_OTLP_TRACES_<what> if it is set, otherwise OTEL_EXPORTER_OTLP_<what>.
std::optional<Found> of_exporter(const Lookup& lookup, std::string_view what) {
  for (const std::string_view signal : {"TRACES_", ""}) {
    std::string name = std::string(exporter).append(signal).append(what);
    if (auto value = value_of(lookup, name)) return Found{std::move(name), std::move(*value)};
  }
  return std::nullopt;
}

// Returns the text with percent escapes decoded; nothing if an escape is malformed (RFC 3986 2.1).
std::optional<std::string> decoded_value(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned char byte = 0;
    const char* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

// Returns true for a token (RFC 9110 5.6.2). Names in W3C Baggage are tokens too.
bool is_list_name(std::string_view name) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || marks.find(c) != std::string_view::npos;
  });
}

// Reads `name=value,name=value` with percent-encoded values (W3C Baggage 3.2). One invalid item invalidates
// the whole variable (OpenTelemetry, Resource SDK). Warnings never quote a value, because values may be
// secrets.
NamedValues read_list(const Found& found, std::vector<std::string>& warnings) {
  NamedValues list;
  const auto refuse = [&](std::string_view name, std::string_view why) {
    const std::string shown = is_list_name(name) ? " at " + std::string(name) : std::string();
    warnings.push_back(found.variable + " is ignored" + shown + ": " + std::string(why));
    return NamedValues();
  };
  for (std::string_view rest = found.value; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = without_blanks(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return refuse({}, "an item has no equals sign: write name=value,name=value");
    const std::string_view name = without_blanks(item.substr(0, equals));
    if (!is_list_name(name)) return refuse({}, "a name is empty or has a character that is not allowed");
    auto value = decoded_value(without_blanks(item.substr(equals + 1)));
    if (!value) return refuse(name, "a percent sign is not followed by two hexadecimal digits: write %25");
    const auto same =
        std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.first == name; });
    if (same != list.end()) {
      same->second = std::move(*value);
    } else {
      list.emplace_back(name, std::move(*value));
    }
  }
  return list;
}

// Returns true for headers that OTEL_EXPORTER_OTLP_HEADERS must not set: the exporter writes them itself, or
// they control the connection.
bool is_ours(std::string_view name) {
  constexpr auto ours = std::to_array<std::string_view>(
      {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te",
       "trailer", "upgrade", "expect", "via"});
  return std::find(ours.begin(), ours.end(), policy::lower(name)) != ours.end();
}

bool is_field_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
  });
}

NamedValues read_headers(const Found& found, std::vector<std::string>& warnings) {
  NamedValues headers = read_list(found, warnings);
  std::erase_if(headers, [&](const auto& header) {
    const bool good = !is_ours(header.first) && is_field_value(header.second);
    if (!good)
      warnings.push_back(
          found.variable + ": " + header.first +
          " is not sent: reprise reserves this header for itself, or its value has a control character");
    return !good;
  });
  return headers;
}

// Reads the collector's URL. Appends /v1/traces to OTEL_EXPORTER_OTLP_ENDPOINT, which is for all signals, but
// not to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (OpenTelemetry, OTLP Exporter).
std::optional<Collector> read_endpoint(const Found& found, std::vector<std::string>& warnings) {
  const bool for_traces = found.variable.find("TRACES_") != std::string::npos;
  std::string url = found.value;
  const std::size_t scheme = url.find("://");
  const std::size_t path = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  const bool has_path = path != std::string::npos;
  if (!for_traces && has_path) {
    while (url.size() > path && url.ends_with('/')) url.pop_back();
    url += "/v1/traces";
  }
  constexpr std::uint16_t http_port = 80;
  auto parsed = parse_collector(url, http_port);
  if (!parsed) {
    warnings.push_back(found.variable + " is ignored: it " + parsed.reason);
    return std::nullopt;
  }
  if (for_traces && (!has_path || path + 1 == url.size())) parsed.value->path = "/";
  if (has_grpc_port(*parsed.value))
    warnings.push_back(
        found.variable +
        " has port 4317, which collectors use for OTLP over gRPC: use 4318, the port for OTLP over HTTP");
  return std::move(parsed.value);
}

// Returns true if the variables disable the export of spans, even if an endpoint is set.
bool is_switched_off(const Lookup& lookup, std::vector<std::string>& warnings) {
  const auto exporter_named = value_of(lookup, "OTEL_TRACES_EXPORTER");
  if (exporter_named == "none") return true;
  if (exporter_named && exporter_named->find("otlp") == std::string::npos) {
    warnings.emplace_back(
        "OTEL_TRACES_EXPORTER does not contain otlp, the only exporter of reprise: no spans are sent");
    return true;
  }
  const auto protocol = of_exporter(lookup, "PROTOCOL");
  if (!protocol || protocol->value.starts_with("http/")) return false;
  warnings.push_back(protocol->variable +
                     " is not http/json: reprise sends OTLP only over HTTP, so no spans are sent");
  return true;
}

bool is_disabled(const Lookup& lookup, std::vector<std::string>& warnings) {
  const auto value = value_of(lookup, "OTEL_SDK_DISABLED");
  if (!value) return false;
  const std::string lowered = policy::lower(*value);
  if (lowered != "true" && lowered != "false")
    warnings.emplace_back("OTEL_SDK_DISABLED is neither true nor false: it counts as false");
  return lowered == "true";
}

// Returns one warning for each variable that is set but not supported.
std::vector<std::string> warnings_of_ignored(const Lookup& lookup) {
  std::vector<std::string> warnings;
  if (const auto timeout = of_exporter(lookup, "TIMEOUT"))
    warnings.push_back(timeout->variable + " is ignored: the time limit for a batch is always 10 s");
  const auto compression = of_exporter(lookup, "COMPRESSION");
  if (compression && compression->value != "none")
    warnings.push_back(compression->variable + " is ignored: batches are not compressed");
  for (const std::string_view name : {"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"})
    if (value_of(lookup, name))
      warnings.push_back(std::string(name) + " is ignored: set the key trace.sample in the configuration");
  return warnings;
}

void set_service_name(const Lookup& lookup, NamedValues& resource) {
  const auto name = value_of(lookup, "OTEL_SERVICE_NAME");
  if (!name) return;
  std::erase_if(resource, [](const auto& attribute) { return attribute.first == "service.name"; });
  resource.emplace_back("service.name", *name);
}

}  // namespace

OtelVariables otel_variables(const Lookup& lookup) {
  OtelVariables read;
  if (is_disabled(lookup, read.warnings)) return read;
  if (const auto value = value_of(lookup, "OTEL_RESOURCE_ATTRIBUTES"))
    read.resource = read_list({"OTEL_RESOURCE_ATTRIBUTES", *value}, read.warnings);
  set_service_name(lookup, read.resource);
  if (const auto headers = of_exporter(lookup, "HEADERS"))
    read.headers = read_headers(*headers, read.warnings);
  if (auto file = of_exporter(lookup, "CERTIFICATE")) read.ca_file = std::move(file->value);
  read.ignored_warnings = warnings_of_ignored(lookup);
  const auto endpoint = of_exporter(lookup, "ENDPOINT");
  if (!endpoint || is_switched_off(lookup, read.warnings)) return read;
  read.collector = read_endpoint(*endpoint, read.warnings);
  read.endpoint_variable = endpoint->variable;
  return read;
}

void follow_otel(const OtelVariables& otel, bool is_in_file, Settings& settings,
                 std::vector<std::string>& warnings) {
  std::optional<Collector>& collector = settings.trace.otlp;
  if (!is_in_file) collector = otel.collector;
  if (!collector) return;
  if (!is_in_file && is_own_listener(*collector, settings)) {
    warnings.push_back(
        otel.endpoint_variable +
        " is ignored: it is a listener of this proxy, so every span would create another span");
    collector.reset();
    return;
  }
  warnings.insert(warnings.end(), otel.ignored_warnings.begin(), otel.ignored_warnings.end());
  collector->headers = otel.headers;
  collector->ca_file = otel.ca_file;
}

}  // namespace reprise::config
