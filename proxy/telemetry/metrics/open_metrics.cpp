#include "proxy/telemetry/metrics/open_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

namespace reprise::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::string_view total = "_total";
constexpr std::string_view info = "_info";

/// A metric family as OpenMetrics shows it: named without the suffix of its samples.
struct Shown {
  std::string_view name;
  std::string_view type;
  std::string_view suffix;
};

Shown shown(const MetricFamily& family) {
  const std::string_view name = family.name;
  switch (family.type) {
    case MetricType::Counter:
      if (name.ends_with(total)) return {name.substr(0, name.size() - total.size()), "counter", total};
      return {name, "counter", total};
    case MetricType::Gauge:
      if (name.ends_with(info)) return {name.substr(0, name.size() - info.size()), "info", info};
      return {name, "gauge", {}};
    case MetricType::Histogram: return {name, "histogram", {}};
    case MetricType::Summary:
    case MetricType::Untyped: break;
  }
  return {name, "unknown", {}};
}

// Returns the unit at the end of the family's name; empty if the name has no unit or the family is an info
// metric.
std::string_view unit_of(const Shown& family) {
  constexpr auto units = std::to_array<std::string_view>({"seconds", "bytes", "ratio"});
  if (family.type == "info") return {};
  const auto* const found = std::find_if(units.begin(), units.end(), [&](std::string_view unit) {
    return family.name.ends_with(unit) && family.name[family.name.size() - unit.size() - 1] == '_';
  });
  return found == units.end() ? std::string_view() : *found;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char byte : text) {
    if (byte == '\\' || byte == '"') out += '\\';
    if (byte == '\n') {
      out += "\\n";
    } else {
      out += byte;
    }
  }
}

// Writes whole numbers without a point, as the Prometheus text format does.
void append_value(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

// Writes a bucket bound, which always has a point: `1.0`.
void append_bound(std::string& out, double bound) {
  const std::size_t before = out.size();
  append_value(out, bound);
  if (!std::isinf(bound) && out.find_first_of(".e", before) == std::string::npos) out += ".0";
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void family(const MetricFamily& family) {
    const Shown what = shown(family);
    describe(what, family.help);
    for (const ClientMetric& metric : family.metric) {
      if (family.type == MetricType::Histogram) {
        histogram(what.name, metric);
      } else {
        begin(what.name, what.suffix, metric, nullptr);
        end(value_of(family.type, metric));
      }
    }
  }

 private:
  void describe(const Shown& what, std::string_view help) {
    out_.append("# TYPE ").append(what.name).append(" ").append(what.type).append("\n");
    if (const auto unit = unit_of(what); !unit.empty())
      out_.append("# UNIT ").append(what.name).append(" ").append(unit).append("\n");
    out_.append("# HELP ").append(what.name).append(" ");
    append_escaped(out_, help);
    out_ += '\n';
  }

  static double value_of(MetricType type, const ClientMetric& metric) {
    switch (type) {
      case MetricType::Counter: return metric.counter.value;
      case MetricType::Gauge: return metric.gauge.value;
      case MetricType::Histogram:
      case MetricType::Summary:
      case MetricType::Untyped: break;
    }
    return metric.untyped.value;
  }

  void histogram(std::string_view name, const ClientMetric& metric) {
    for (const auto& bucket : metric.histogram.bucket) {
      begin(name, "_bucket", metric, &bucket.upper_bound);
      end(static_cast<double>(bucket.cumulative_count));
    }
    begin(name, "_count", metric, nullptr);
    end(static_cast<double>(metric.histogram.sample_count));
    begin(name, "_sum", metric, nullptr);
    end(metric.histogram.sample_sum);
  }

  // Begins a sample. `bound`: upper bound of a bucket; null for other samples.
  void begin(std::string_view name, std::string_view suffix, const ClientMetric& metric,
             const double* bound) {
    out_.append(name).append(suffix);
    char separator = '{';
    for (const auto& label : metric.label) {
      out_ += separator;
      separator = ',';
      out_.append(label.name).append("=\"");
      append_escaped(out_, label.value);
      out_ += '"';
    }
    if (bound != nullptr) {
      out_ += separator;
      separator = ',';
      out_ += "le=\"";
      append_bound(out_, *bound);
      out_ += '"';
    }
    if (separator == ',') out_ += '}';
    out_ += ' ';
  }

  void end(double value) {
    append_value(out_, value);
    out_ += '\n';
  }

  std::string& out_;
};

}  // namespace

std::string open_metrics(const std::vector<MetricFamily>& families) {
  std::string out;
  Writer writer(out);
  for (const MetricFamily& family : families) writer.family(family);
  return out + "# EOF\n";
}

}  // namespace reprise::telemetry
