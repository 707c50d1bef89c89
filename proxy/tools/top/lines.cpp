#include "proxy/tools/top/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::tools {
namespace {

std::string rounded(double value, double steps) {
  return fmt::format("{}", std::round(value * steps) / steps);
}

// Writes one line; the form decides how each member is written.
class RouteLine {
 public:
  RouteLine(std::string& out, LineForm form) : out_(&out), json_(form == LineForm::json) {
    if (json_) *out_ += '{';
  }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    const auto is_plain = [](char character) {
      const auto byte = static_cast<unsigned char>(character);
      const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
      return letter || (byte >= '0' && byte <= '9') ||
             std::string_view("._-/:").find(character) != std::string_view::npos;
    };
    if (json_ || value.empty() || !std::all_of(value.begin(), value.end(), is_plain)) {
      telemetry::append_json(*out_, value);
    } else {
      *out_ += value;
    }
  }
  void count(std::string_view name, std::uint64_t value) {
    begin(name);
    telemetry::append_number(*out_, value);
  }
  void number(std::string_view name, double value, double steps) {
    begin(name);
    *out_ += rounded(value, steps);
  }
  void nothing(std::string_view name) {
    begin(name);
    *out_ += json_ ? "null" : "-";
  }
  void counts(std::string_view name, const CountsByWord& counts) {
    begin(name);
    const char* separator = "";
    if (json_) *out_ += '{';
    for (const auto& [word, count] : counts) {
      *out_ += separator;
      if (json_) {
        telemetry::append_json(*out_, word);
      } else {
        telemetry::append_visible(*out_, word);
      }
      *out_ += ':';
      telemetry::append_number(*out_, count);
      separator = ",";
    }
    if (json_) *out_ += '}';
    if (!json_ && counts.empty()) *out_ += '-';
  }
  void end() { *out_ += json_ ? "}\n" : "\n"; }

 private:
  void begin(std::string_view name) {
    if (!first_) *out_ += json_ ? ',' : ' ';
    first_ = false;
    const std::string_view quote = json_ ? "\"" : "";
    out_->append(quote).append(name).append(quote).append(json_ ? ":" : "=");
  }

  std::string* out_;
  bool json_;
  bool first_ = true;
};

void quantile_of(RouteLine& line, std::string_view name, const std::optional<Quantile>& quantile) {
  if (quantile) {
    line.number(name, quantile->seconds * 1000, 1000);
  } else {
    line.nothing(name);
  }
}

void append_route(std::string& out, const RouteFigures& route, LineForm form, std::string_view time) {
  RouteLine line(out, form);
  line.text("time", time);
  line.text("route", route.name);
  line.number("seconds", route.span, 1000);
  line.count("requests", route.recent.requests);
  line.number("rate", route.rate(route.recent.requests), 1000);
  if (route.success) {
    line.number("success", *route.success, 10000);
  } else {
    line.nothing("success");
  }
  line.count("retries", route.recent.retries);
  line.count("recovered", route.recent.recovered);
  line.count("exhausted", route.recent.exhausted);
  line.counts("refused", route.recent.refused);
  quantile_of(line, "p50_ms", route.p50);
  quantile_of(line, "p99_ms", route.p99);
  line.end();
}

}  // namespace

std::string interval_lines(const Watch& watch, LineForm form, std::int64_t wall) {
  const std::string time(telemetry::timestamp(wall));
  std::string out;
  for (const RouteFigures& route : watch.routes())
    if (route.span > 0) append_route(out, route, form, time);
  return out;
}

}  // namespace reprise::tools
