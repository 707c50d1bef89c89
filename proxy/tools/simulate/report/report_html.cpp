#include "proxy/tools/simulate/report/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/keys/scalar.hpp"
#include "proxy/tools/simulate/report/courses.hpp"
#include "proxy/tools/simulate/report/page_style.hpp"
#include "proxy/tools/simulate/report/palette.hpp"
#include "proxy/tools/simulate/report/words.hpp"

namespace reprise::tools {
namespace {

constexpr std::string_view csp =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string picture(const Chart& chart, const std::string& id, const std::string& title,
                    const std::string& text) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-labelledby=\"{}t {}d\"><title "
      "id=\"{}t\">{}</title><desc "
      "id=\"{}d\">{}</desc>\n{}</svg>\n",
      chart.width, chart.height, id, id, id, escaped(title), id, escaped(text), draw(chart));
}

bool has_budget(const Measures& measures) { return measures.lowest_budget() < 1; }

void write_head(const Report& report, std::string& out) {
  out += fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" "
      "content=\"{}\">\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>Retry policies "
      "compared</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>What retries would "
      "do</h1>\n<p "
      "class=\"lead\">{}</p>\n<div class=\"box\"><dl>\n",
      csp, page_style, dark_style(),
      report.replayed ? "The requests of a log, replayed under each policy. The code of reprise makes every "
                        "decision, on a simulated clock."
                      : "The same requests, the same upstream and the same failures under each policy. The "
                        "code of reprise makes every decision, on a simulated clock.");
  for (const Premises& premise : premises_of(report))
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(premise.what), escaped(premise.text));
  out += "</dl></div>\n</header>\n";
}

std::string load_text(const Measures& measures) {
  return fmt::format("{} attempts for {} requests; at most {}.", grouped(measures.attempts),
                     grouped(measures.requests), per_second(measures.peak_load()));
}

void write_card(const Report& report, std::size_t place, std::string& out) {
  const Compared& one = report.compared[place];
  const Measures& measures = one.measures;
  const std::string id = "c" + std::to_string(place);
  out += fmt::format(
      "<section class=\"card {}\">\n<h3>{}</h3>\n<p class=\"is\">{}</p>\n<div class=\"figure\">{}</div>\n<p "
      "class=\"unit\">of {} requests succeed</p>\n",
      colour_of(place), escaped(one.name), escaped(one.sentence),
      range_text(one, &percent, &Measures::success_share), grouped(measures.requests));
  out += "<p class=\"what\">attempts per second</p>\n";
  out += picture(load_chart(report, place), id + "l", one.name + ": load", load_text(measures));
  out += "<p class=\"what\">success, by time of arrival</p>\n";
  out += picture(success_chart(report, place), id + "s", one.name + ": success",
                 fmt::format("{} of all requests succeed; recovered: {}.", percent(measures.success_share()),
                             recovery_text(measures)));
  if (has_budget(measures)) {
    out += "<p class=\"what\">lowest budget left of any client</p>\n";
    out += picture(budget_chart(report, place), id + "b", one.name + ": budget",
                   fmt::format("At least {} of the budget is left.", percent(measures.lowest_budget())));
  }
  out += "</section>\n";
}

void write_table(const Report& report, std::string& out) {
  out +=
      "<h2>In numbers</h2>\n<div class=\"box scroll\"><table>\n<caption>Attempts: per request, at the "
      "upstream. Latency: of successful requests, waits included. Recovered: time from the end of the "
      "trouble until requests succeed as before.</caption>\n<thead><tr>";
  for (const std::string_view name : {"policy", "success", "attempts", "peak load", "p50", "p90", "p99",
                                      "recovered", "rejected", "wasted work", "budget spent"})
    out += fmt::format("<th scope=\"col\">{}</th>", name);
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < report.compared.size(); ++i) {
    const Compared& one = report.compared[i];
    const Measures& measures = one.measures;
    const bool stuck = measures.trouble_ended && !measures.recovered;
    out += fmt::format("<tr class=\"{}\"><th scope=\"row\"><span class=\"dot\"></span>{}</th>", colour_of(i),
                       escaped(one.name));
    const auto cell = [&](const std::string& text, bool bad = false) {
      out += fmt::format("<td{}>{}</td>", bad ? " class=\"bad\"" : "", text);
    };
    cell(range_text(one, &percent, &Measures::success_share));
    cell(range_text(one, &times, &Measures::amplification));
    cell(per_second(measures.peak_load()));
    for (const double share : {0.5, 0.9, 0.99}) cell(percentile_text(measures.latency, share));
    cell(recovery_text(measures), stuck);
    cell(grouped(measures.refused + measures.limited));
    cell(grouped(measures.wasted));
    cell(grouped(measures.ended[static_cast<std::size_t>(policy::Reason::budget_spent)]));
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void write_amplification(const Report& report, std::string& out) {
  out +=
      "<h2>Amplification: attempts per request</h2>\n<div class=\"box\"><ul "
      "class=\"legend\">";
  std::string text;
  for (std::size_t i = 0; i < report.compared.size(); ++i) {
    out += fmt::format("<li class=\"{}\"><span class=\"dot\"></span>{}</li>", colour_of(i),
                       escaped(report.compared[i].name));
    text += fmt::format("{}: {} over the whole run. ", report.compared[i].name,
                        times(report.compared[i].measures.amplification()));
  }
  out += "</ul>\n" + picture(amplification_chart(report), "a", "Amplification over time", text) + "</div>\n";
}

void write_reasons(const Report& report, std::string& out) {
  out +=
      "<h2>What ended the requests</h2>\n<div class=\"box scroll\"><table>\n<caption>Requests by "
      "reason.</caption>\n"
      "<thead><tr><th scope=\"col\">reason</th>";
  for (const Compared& one : report.compared)
    out += fmt::format("<th scope=\"col\">{}</th>", escaped(one.name));
  out += "</tr></thead>\n<tbody>\n";
  for (const policy::Reason reason : policy::all_reasons()) {
    const auto place = static_cast<std::size_t>(reason);
    const bool any = std::any_of(report.compared.begin(), report.compared.end(),
                                 [&](const Compared& one) { return one.measures.ended[place] > 0; });
    if (!any) continue;
    out += fmt::format("<tr><th scope=\"row\"><code>{}</code></th>", policy::word(reason));
    for (const Compared& one : report.compared)
      out += fmt::format("<td>{}</td>", grouped(one.measures.ended[place]));
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void write_steps(const Report& report, std::string& out) {
  if (report.compared.empty()) return;
  out +=
      "<details><summary>The numbers of the charts</summary>\n<div class=\"box "
      "scroll\"><table>\n<caption>Attempts per second, and the share of the requests that arrived in that "
      "time and succeeded.</caption>\n<thead><tr><th "
      "scope=\"col\">from</th>";
  for (const Compared& one : report.compared)
    out += fmt::format("<th scope=\"col\">{}</th>", escaped(one.name));
  out += "</tr></thead>\n<tbody>\n";
  const Measures& first = report.compared.front().measures;
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    const Duration from = first.step * static_cast<Duration::rep>(i);
    out += fmt::format("<tr><th scope=\"row\">{}</th>", config::duration_text(from));
    for (const Compared& one : report.compared) {
      const double success = success_of(one.measures)[i];
      out += fmt::format("<td>{}, {}</td>", per_second(load_of(one.measures)[i]),
                         success < 0 ? "-" : percent(success));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div></details>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  std::string out;
  write_head(report, out);
  out += fmt::format(
      "<h2>Side by side</h2>\n<p class=\"lead\">{}Thin line: {}</p>\n<div class=\"cards\">\n",
      report.model ? "Red: the upstream is down. Dashed: capacity of the upstream. " : "",
      report.replayed
          ? "the requests that arrived, or the success if attempts that are not in the log succeed."
          : "the requests that arrived.");
  for (std::size_t i = 0; i < report.compared.size(); ++i) write_card(report, i, out);
  out += "</div>\n";
  write_table(report, out);
  const std::vector<std::string> remarks = remarks_on(report);
  if (!remarks.empty()) {
    out += "<h2>Notes</h2>\n<div class=\"box\"><ul class=\"remarks\">\n";
    for (const std::string& remark : remarks) out += "<li>" + escaped(remark) + "</li>\n";
    out += "</ul></div>\n";
  }
  write_amplification(report, out);
  write_reasons(report, out);
  write_steps(report, out);
  out +=
      "<footer>Made by reprise simulate. The same configuration, model and seed give the same "
      "page.</footer>\n";
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace reprise::tools
