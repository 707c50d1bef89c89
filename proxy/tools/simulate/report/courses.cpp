#include "proxy/tools/simulate/report/courses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "proxy/tools/simulate/report/words.hpp"

namespace reprise::tools {
namespace {

constexpr std::size_t colours = 8;

template <typename Value>
std::vector<double> course_of(const Measures& measures, Value value) {
  std::vector<double> course;
  course.reserve(measures.steps.size());
  for (const Step& step : measures.steps) course.push_back(value(step));
  return course;
}

double rate(std::uint64_t count, const Measures& measures) {
  return static_cast<double>(count) / std::chrono::duration<double>(measures.step).count();
}

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? -1 : static_cast<double>(part) / static_cast<double>(of);
}

Chart blank(const Report& report) {
  Chart chart;
  if (report.model) chart.bands = bands_of(*report.model);
  chart.from_label = "0 s";
  chart.to_label = span_text(report.duration);
  return chart;
}

std::string short_number(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  return value >= 10'000 ? fmt::format("{:.3g}k", value / 1e3) : grouped(static_cast<std::uint64_t>(value));
}

}  // namespace

std::vector<double> load_of(const Measures& measures) {
  return course_of(measures, [&](const Step& step) { return rate(step.attempts, measures); });
}

std::vector<double> arrivals_of(const Measures& measures) {
  return course_of(measures, [&](const Step& step) { return rate(step.requests, measures); });
}

std::vector<double> success_of(const Measures& measures) {
  return course_of(measures, [](const Step& step) { return share(step.succeeded, step.requests); });
}

std::vector<double> budget_of(const Measures& measures) {
  return course_of(measures, [](const Step& step) { return step.budget; });
}

double highest_load(const Report& report) {
  double highest = 0;
  for (const Compared& one : report.compared) highest = std::max(highest, one.measures.peak_load());
  return round_up(highest);
}

std::string colour_of(std::size_t place) { return "p" + std::to_string(place % colours); }

Chart load_chart(const Report& report, std::size_t place) {
  const Measures& measures = report.compared[place].measures;
  Chart chart = blank(report);
  chart.highest = highest_load(report);
  chart.marks = {{0, "0"},
                 {chart.highest / 2, short_number(chart.highest / 2)},
                 {chart.highest, short_number(chart.highest)}};
  chart.curves = {{load_of(measures), colour_of(place), true},
                  {load_of(measures), colour_of(place), false},
                  {arrivals_of(measures), "came", false}};
  if (report.model) chart.limit = most_served_per_second(*report.model);
  return chart;
}

Chart success_chart(const Report& report, std::size_t place) {
  const Compared& one = report.compared[place];
  Chart chart = blank(report);
  chart.marks = {{0, "0"}, {0.5, "50 %"}, {1, "100 %"}};
  chart.curves = {{success_of(one.measures), colour_of(place), true},
                  {success_of(one.measures), colour_of(place), false}};
  if (one.best_case) chart.curves.push_back({success_of(*one.best_case), "came", false});
  return chart;
}

Chart budget_chart(const Report& report, std::size_t place) {
  Chart chart = blank(report);
  chart.marks = {{0, "0"}, {0.5, "50 %"}, {1, "100 %"}};
  chart.curves = {{budget_of(report.compared[place].measures), colour_of(place), true},
                  {budget_of(report.compared[place].measures), colour_of(place), false}};
  return chart;
}

Chart amplification_chart(const Report& report) {
  Chart chart = blank(report);
  chart.width = 1120;
  chart.height = 260;
  double highest = 1;
  for (std::size_t i = 0; i < report.compared.size(); ++i) {
    std::vector<double> course = course_of(
        report.compared[i].measures, [](const Step& step) { return share(step.attempts, step.requests); });
    for (const double value : course) highest = std::max(highest, value);
    chart.curves.push_back({std::move(course), colour_of(i), false});
  }
  // The vertical scale is limited, so that one extreme step with few requests does not flatten all other
  // curves.
  chart.highest = std::min(round_up(highest), 20.0);
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double value = chart.highest * part;
    chart.marks.emplace_back(value, fmt::format("{:g}", value));
  }
  return chart;
}

}  // namespace reprise::tools
