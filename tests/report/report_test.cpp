#include "proxy/tools/simulate/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/tools/simulate/report/courses.hpp"
#include "proxy/tools/simulate/report/report_html.hpp"
#include "proxy/tools/simulate/report/report_json.hpp"
#include "proxy/tools/simulate/report/report_svg.hpp"
#include "proxy/tools/simulate/report/report_text.hpp"
#include "proxy/tools/simulate/report/words.hpp"
#include "tests/simulate/worlds.hpp"

namespace reprise::tools {
namespace {

Report two_policies() {
  Report report;
  report.configuration = "a<b>&\"c\".yaml";
  report.model = Model{};
  report.duration = report.model->duration;
  for (const char* word : {"no-budget", "config"}) {
    const Subject subject = *policy_of(word, policy::RouteTable({}, policy::Route{}));
    ModelledWorld world(*report.model);
    report.compared.push_back(
        {subject.name, subject.sentence, run(subject, world, options_for(*report.model)), {}});
  }
  return report;
}

bool has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

TEST(Report, text_report_has_a_table_charts_and_notes) {
  const Report report = two_policies();
  const std::string text = to_text(report, {false, false});
  EXPECT_TRUE(has(text, "requests       500 requests/s for 1m from 20 clients (at random, seed 1)\n"))
      << text;
  EXPECT_TRUE(has(text, "down from 15s to 17s (503); 1% of attempts: 503")) << text;
  EXPECT_TRUE(has(text, "\nwithout budget   ")) << text;
  EXPECT_TRUE(has(text, "^^  ")) << text;
  EXPECT_TRUE(has(text,
                  "without budget: had not recovered when the last request arrived. The last requests may "
                  "succeed only because no more arrive."))
      << text;
  EXPECT_TRUE(
      std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  const std::string coloured = to_text(report, {true, true});
  EXPECT_TRUE(has(coloured, "\x1b[31m"));
  EXPECT_TRUE(has(coloured, "\u2588"));
}

TEST(Report, html_report_loads_nothing_external_and_escapes_input) {
  const std::string html = to_html(two_policies());
  EXPECT_TRUE(has(html, "a&lt;b&gt;&amp;&quot;c&quot;.yaml"));
  for (const char* never : {"http:", "https:", "<script", " src=", "@import", "url("})
    EXPECT_FALSE(has(html, never)) << never;
  EXPECT_TRUE(has(html, "default-src 'none'"));
  EXPECT_TRUE(has(html, "prefers-color-scheme:dark"));
  EXPECT_TRUE(has(html, "<caption>"));
}

TEST(Report, svg_is_self_contained) {
  const std::string svg = to_svg(two_policies());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(has(svg, "<title id=\"t\">Load of an upstream under 2 retry policies</title>"));
  EXPECT_FALSE(has(svg, "var(")) << "programs that know no style sheets show it, too";
  EXPECT_FALSE(has(svg.substr(svg.find("</style>")), "<text class=\"tick\" x="))
      << "each text has its own colour";
  EXPECT_TRUE(has(svg, "not recovered"));
  Report calm_one = two_policies();
  calm_one.compared[0].measures.trouble_ended.reset();
  EXPECT_TRUE(has(to_svg(calm_one), "attempts per request</text>"));
}

TEST(Report, report_of_a_replayed_log_shows_a_lower_and_an_upper_bound) {
  Report report = two_policies();
  report.model.reset();
  report.replayed = Replayed{"access.log", 100, 90, 3, 2, 5};
  Compared& one = report.compared[1];
  one.best_case = one.measures;
  one.best_case->succeeded += 100;
  one.measures.decided_by_log = 1000;
  one.measures.assumed = 12345;
  one.measures.unknown_rule = 17;
  report.notes = {"A note."};
  const std::string text = to_text(report, {});
  EXPECT_TRUE(
      has(text,
          "access.log: 90 requests in 60 s; 3 other lines ignored; 2 bad lines skipped; 5 requests excluded"))
      << text;
  EXPECT_TRUE(has(text, " % .. ")) << text;
  EXPECT_TRUE(
      has(text, "as configured: for 1,000 of 29,859 requests, the log has the outcome of every attempt."))
      << text;
  EXPECT_TRUE(has(text, "12,345 attempts assumed")) << text;
  EXPECT_TRUE(has(
      text, "For 17 requests, the headers, the query or the body decide whether the request is idempotent."))
      << text;
  EXPECT_TRUE(has(text, "A note.")) << text;
  EXPECT_TRUE(has(to_json(report), "\"if_unknown_attempts_succeed\":{"));
  EXPECT_TRUE(has(to_html(report), "The requests of a log, replayed under each policy."));
}

TEST(Report, report_has_notes_on_parameters_that_overload_the_model) {
  Report report = two_policies();
  report.model->rate = 900;
  report.model->limit = RateLimit{50, std::chrono::seconds(2)};
  report.model->patience = std::chrono::seconds(3);
  report.model->bursts = {{std::chrono::seconds(1), 1000}};
  report.model->mix = {{"GET", "a", 80, "/", "", {}, 0.9, false}, {"POST", "a", 80, "/", "", {}, 0.1, false}};
  report.compared[0].measures.turned_away = 4;
  report.compared[0].measures.unfinished = 5;
  const std::string text = to_text(report, {});
  for (const char* told : {"More requests arrive (900/s) than the upstream can serve (706/s)",
                           "4 requests arrived while 250,000 others were open",
                           "5 requests were still open 600 s after", "429 above 50/s, Retry-After 2s",
                           "gives up after 3s", "1,000 more at once at 1s", "90% GET 10% POST"})
    EXPECT_TRUE(has(text, told)) << told << text;
  report.model = calm();
  const std::string calmly = to_text(report, {});
  EXPECT_TRUE(has(calmly, "any number of requests at a time, each fixed:1us")) << calmly;
  EXPECT_TRUE(has(calmly, "trouble        none")) << calmly;
}

TEST(Words, counts_and_rates_and_durations_are_formatted_for_human_readers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.99999), "99.99 %");
  EXPECT_EQ(span_text(std::chrono::microseconds(400)), "0.4 ms");
  EXPECT_EQ(span_text(milliseconds(57)), "57 ms");
  EXPECT_EQ(span_text(milliseconds(1234)), "1.2 s");
  EXPECT_EQ(span_text(seconds(75)), "75 s");
  EXPECT_EQ(percentile_text(Histogram{}, 0.5), "-");
  EXPECT_EQ(escaped("a\n\x1b"), "a  ");
}

TEST(Charts, chart_scales_end_at_a_round_number_and_curves_stay_inside_the_chart) {
  EXPECT_EQ(round_up(0), 1);
  EXPECT_EQ(round_up(1), 1);
  EXPECT_EQ(round_up(3179), 4000);
  EXPECT_EQ(round_up(0.011), 0.015);
  EXPECT_EQ(round_up(95), 100);
  Chart chart;
  chart.highest = 10;
  chart.curves = {{{1, -1, 5, 50}, "p0", true}, {{-1, -1}, "p1", false}};
  chart.limit = 12;
  const std::string drawn = draw(chart);
  EXPECT_FALSE(has(drawn, "limit"));
  EXPECT_FALSE(has(drawn, "p1"));
  EXPECT_FALSE(has(drawn, "V-"));
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'Z'), 2);
}

TEST(Report, M111_throttling_of_a_service_config_is_shown_beside_the_budget) {
  Report report = two_policies();
  report.client = ComparedClient{"c.json",
                                 {"a.B/*: each call is sent once", "*/*: at most 2 attempts"},
                                 "10 tokens",
                                 policy::BudgetPolicy{}};
  const std::string text = to_text(report, {false, false});
  EXPECT_TRUE(has(text, "service config c.json: a.B/*: each call is sent once; */*: at most 2 attempts\n"))
      << text;
  EXPECT_TRUE(has(
      text,
      "all retries    service config: 10 tokens (retryThrottling; not simulated); configuration: 20% of the "
      "requests within 10s, and 10/s more (budget)\n"))
      << text;
  report.client->throttling.clear();
  report.client->budget.reset();
  EXPECT_TRUE(has(to_json(report), "no limit (no retryThrottling); configuration: no limit (budget: off)"));
}

}  // namespace
}  // namespace reprise::tools
