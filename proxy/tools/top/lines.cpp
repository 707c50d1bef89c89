#include "proxy/tools/top/lines.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proxy/telemetry/log/json_document.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::tools {
namespace {

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

json::value milliseconds_of(const std::optional<Quantile>& quantile) {
  constexpr double steps = 1000;
  return quantile ? json::value(rounded(quantile->seconds * 1000, steps)) : json::value();
}

json::object figures_of(const RouteFigures& route, std::string_view time) {
  constexpr double thousandths = 1000;
  constexpr double ten_thousandths = 10000;
  return {{"time", time},
          {"route", route.name},
          {"seconds", rounded(route.span, thousandths)},
          {"requests", route.recent.requests},
          {"rate", rounded(route.rate(route.recent.requests), thousandths)},
          {"success", route.success ? json::value(rounded(*route.success, ten_thousandths)) : json::value()},
          {"retries", route.recent.retries},
          {"recovered", route.recent.recovered},
          {"exhausted", route.recent.exhausted},
          {"refused", json::object(route.recent.refused.begin(), route.recent.refused.end())},
          {"p50_ms", milliseconds_of(route.p50)},
          {"p99_ms", milliseconds_of(route.p99)}};
}

bool needs_no_quotes(std::string_view text) {
  const auto is_plain = [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return letter || (byte >= '0' && byte <= '9') ||
           std::string_view("._-/:").find(character) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

void append_counts(std::string& out, const json::object& counts) {
  const char* separator = "";
  for (const auto& [word, count] : counts) {
    out += std::exchange(separator, ",");
    telemetry::append_visible(out, word);
    out += ':';
    telemetry::append_document(out, count);
  }
  if (counts.empty()) out += '-';
}

// Appends the figures as `name=value` pairs, separated by blanks.
void append_words(std::string& out, const json::object& figures) {
  const char* separator = "";
  for (const auto& [name, value] : figures) {
    out.append(std::exchange(separator, " ")).append(name).append("=");
    if (const json::object* const counts = value.if_object()) {
      append_counts(out, *counts);
    } else if (value.is_null()) {
      out += '-';
    } else if (value.is_string() && needs_no_quotes(value.get_string())) {
      out += value.get_string();
    } else {
      telemetry::append_document(out, value);
    }
  }
}

}  // namespace

std::string interval_lines(const Watch& watch, LineForm form, std::int64_t wall) {
  const std::string time(telemetry::timestamp(wall));
  std::string out;
  for (const RouteFigures& route : watch.routes()) {
    if (route.span <= 0) continue;
    const json::object figures = figures_of(route, time);
    if (form == LineForm::json) {
      telemetry::append_document(out, figures);
    } else {
      append_words(out, figures);
    }
    out += '\n';
  }
  return out;
}

}  // namespace reprise::tools
