#include "proxy/tools/simulate/report/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "config/keys/scalar.hpp"
#include "proxy/tools/simulate/report/words.hpp"

namespace reprise::tools {
namespace {

constexpr std::size_t most_columns = 60;
constexpr double good = 0.9;

constexpr std::array<std::string_view, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> letters{" ", ".", ":", "-", "=", "+", "*", "#", "@"};

/// The course of a run, shortened so that it fits on one line of text: each column combines several steps.
struct Course {
  std::vector<double> load;     ///< attempts per second
  std::vector<double> success;  ///< fraction of successful requests; negative if no requests arrived
};

std::size_t steps_in_column(const Measures& measures) {
  return std::max<std::size_t>(1, (measures.steps.size() + most_columns - 1) / most_columns);
}

Course course_of(const Measures& measures) {
  Course course;
  const std::size_t width = steps_in_column(measures);
  const double seconds = std::chrono::duration<double>(measures.step).count();
  for (std::size_t i = 0; i < measures.steps.size(); i += width) {
    Step sum;
    const std::size_t end = std::min(i + width, measures.steps.size());
    for (std::size_t at = i; at < end; ++at) {
      sum.attempts += measures.steps[at].attempts;
      sum.requests += measures.steps[at].requests;
      sum.succeeded += measures.steps[at].succeeded;
    }
    course.load.push_back(static_cast<double>(sum.attempts) / (seconds * static_cast<double>(end - i)));
    const auto came = static_cast<double>(sum.requests);
    course.success.push_back(sum.requests == 0 ? -1 : static_cast<double>(sum.succeeded) / came);
  }
  return course;
}

class Painter {
 public:
  explicit Painter(TextStyle style) : style_(style) {}

  std::string paint(std::string_view text, std::string_view colour) const {
    if (!style_.colours || colour.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
  }
  /// Returns the block character for a height of 0 to 1. Any height above 0 is visible.
  std::string_view block(double height) const {
    const auto eighths = static_cast<std::size_t>(std::ceil(std::clamp(height, 0.0, 1.0) * 8 - 1e-9));
    return style_.blocks ? blocks[eighths] : letters[eighths];
  }

 private:
  TextStyle style_;
};

constexpr std::string_view red = "31";
constexpr std::string_view green = "32";
constexpr std::string_view bold = "1";

std::size_t name_width(const Report& report) {
  std::size_t width = 6;
  for (const Compared& one : report.compared) width = std::max(width, one.name.size());
  return width;
}

void write_table(const Report& report, const Painter& painter, std::string& out) {
  const std::size_t names = name_width(report);
  const std::size_t wide = report.replayed ? 22 : 9;
  const auto line = [&](std::string_view name, std::string_view success, std::string_view amplified,
                        std::string_view peak, std::string_view p50, std::string_view p99,
                        std::string_view recovered) {
    return fmt::format("{:<{}}  {:>{}}  {:>{}}  {:>10}  {:>7}  {:>7}  {:>11}", name, names, success, wide,
                       amplified, report.replayed ? 14 : 8, peak, p50, p99, recovered);
  };
  out += painter.paint(line("policy", "success", "attempts", "peak load", "p50", "p99", "recovered"), bold) +
         "\n";
  for (const Compared& one : report.compared) {
    const Measures& measures = one.measures;
    const bool stuck = measures.trouble_ended && !measures.recovered;
    out += painter.paint(line(one.name, range_text(one, &percent, &Measures::success_share),
                              range_text(one, &times, &Measures::amplification),
                              per_second(measures.peak_load()), percentile_text(measures.latency, 0.5),
                              percentile_text(measures.latency, 0.99), recovery_text(measures)),
                         stuck ? red : "") +
           "\n";
  }
  out +=
      "success: of all requests; attempts: per request, at the upstream; p50, p99: latency of successful "
      "requests\n";
}

std::string chart_line(const std::vector<double>& values, double highest, double limit, bool above,
                       const Painter& painter) {
  std::string text;
  for (const double value : values) {
    const bool bad = value >= 0 && (above ? value > limit : value < limit);
    text += painter.paint(painter.block(highest <= 0 ? 0 : value / highest), bad ? red : above ? "" : green);
  }
  return text;
}

// Returns the line below the chart that marks the outages.
std::string outage_line(const Report& report, std::size_t columns, Duration column) {
  std::string text(columns, ' ');
  if (!report.model) return {};
  for (std::size_t i = 0; i < columns; ++i) {
    const Duration from = column * static_cast<Duration::rep>(i);
    for (const Outage& outage : report.model->outages) {
      if (outage.from < from + column && outage.from + outage.length > from) text[i] = '^';
    }
  }
  return text.find('^') == std::string::npos ? std::string() : text + "  down";
}

void write_charts(const Report& report, const Painter& painter, std::string& out) {
  const std::size_t names = name_width(report);
  std::vector<Course> courses;
  double highest = 0;
  for (const Compared& one : report.compared) {
    courses.push_back(course_of(one.measures));
    for (const double load : courses.back().load) highest = std::max(highest, load);
  }
  if (courses.empty() || courses.front().load.empty()) return;
  const Measures& first = report.compared.front().measures;
  const Duration column = first.step * static_cast<Duration::rep>(steps_in_column(first));
  const double most = report.model ? most_served_per_second(*report.model).value_or(1e18) : 1e18;
  const std::string marks = outage_line(report, courses.front().load.size(), column);
  const auto write = [&](std::string_view title, bool load) {
    out += "\n" + painter.paint(title, bold) + "\n";
    for (std::size_t i = 0; i < courses.size(); ++i) {
      out += fmt::format("{:<{}}  ", report.compared[i].name, names);
      out += load ? chart_line(courses[i].load, highest, most, true, painter)
                  : chart_line(courses[i].success, 1, good, false, painter);
      out += "\n";
    }
    if (!marks.empty()) out += std::string(names + 2, ' ') + marks + "\n";
  };
  write(fmt::format("load: attempts at the upstream; one column is {}, full height is {}",
                    config::duration_text(column), per_second(highest)),
        true);
  write(fmt::format("success: of the requests that arrived in the time of a column, the share that "
                    "succeeded; full height is 100 %{}",
                    report.replayed ? ", lower bound" : ""),
        false);
}

}  // namespace

std::string to_text(const Report& report, TextStyle style) {
  const Painter painter(style);
  std::string out;
  for (const Premises& premise : premises_of(report))
    out += fmt::format("{:<14} {}\n", premise.what, premise.text);
  out += "\n";
  write_table(report, painter, out);
  write_charts(report, painter, out);
  const std::vector<std::string> remarks = remarks_on(report);
  if (!remarks.empty()) out += "\n";
  for (const std::string& remark : remarks) out += remark + "\n";
  return out;
}

}  // namespace reprise::tools
