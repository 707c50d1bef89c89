#include "proxy/tools/simulate/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/keys/scalar.hpp"
#include "proxy/tools/simulate/model/model_keys.hpp"
#include "proxy/tools/simulate/report/words.hpp"

namespace reprise::tools {
namespace {

std::string traffic(const Model& model) {
  std::string text = fmt::format("{} requests/s for {} from {} {} ({}, seed {})",
                                 config::number_text(model.rate), config::duration_text(model.duration),
                                 model.clients, model.clients == 1 ? "client" : "clients",
                                 model.arrivals == Arrivals::even ? "evenly" : "at random", model.seed);
  for (const Burst& burst : model.bursts)
    text += fmt::format("; {} more at once at {}", grouped(burst.requests), config::duration_text(burst.at));
  if (model.patience) text += "; the application gives up after " + config::duration_text(*model.patience);
  if (model.mix.size() > 1 || model.mix.front().method != "GET") {
    text += "; mix:";
    for (const RequestKind& kind : model.mix)
      text += fmt::format(" {} {}", config::ratio_text(kind.share), kind.call ? "gRPC" : kind.method);
  }
  return text;
}

std::string upstream(const Model& model) {
  const std::string latency = latency_text(model.latency);
  if (!model.capacity) return "any number of requests at a time, each " + latency;
  return fmt::format(
      "{} requests at a time, each {}: serves up to {}; queue: {}; rejecting a request costs {}",
      *model.capacity, latency, per_second(*most_served_per_second(model)), grouped(model.queue),
      config::duration_text(model.refusal));
}

std::string trouble(const Model& model) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  for (const Outage& outage : model.outages) {
    add(fmt::format("down from {} to {} ({})", config::duration_text(outage.from),
                    config::duration_text(outage.from + outage.length), outage.trouble.word));
  }
  for (const ErrorShare& error : model.errors)
    add(fmt::format("{} of attempts: {}", config::ratio_text(error.share), error.trouble.word));
  if (model.limit) {
    add("429 above " + config::rate_text(model.limit->per_second) +
        (model.limit->retry_after ? ", Retry-After " + config::duration_text(*model.limit->retry_after)
                                  : ""));
  }
  return text.empty() ? "none" : text;
}

std::string log_text(const Replayed& replayed, Duration duration) {
  std::string text =
      fmt::format("{}: {} requests in {}", replayed.file, grouped(replayed.requests), span_text(duration));
  if (replayed.other_lines > 0)
    text += fmt::format("; {} other lines ignored", grouped(replayed.other_lines));
  if (replayed.bad_lines > 0) text += fmt::format("; {} bad lines skipped", grouped(replayed.bad_lines));
  if (replayed.as_logged > 0) {
    text += fmt::format("; {} requests excluded (the client left, or the body broke)",
                        grouped(replayed.as_logged));
  }
  return text;
}

std::string client_text(const ComparedClient& client) {
  std::string text = client.file + ": ";
  for (const std::string& sentence : client.sentences) {
    if (text.size() > client.file.size() + 2) text += "; ";
    text += sentence;
  }
  return text;
}

// Describes the limits of all retries together: that of the service config beside that of the configuration.
std::string limits_text(const ComparedClient& client) {
  const std::string theirs = client.throttling.empty()
                                 ? "no limit (no retryThrottling)"
                                 : client.throttling + " (retryThrottling; not simulated)";
  const std::string ours = client.budget ? fmt::format("{} of the requests within {}, and {} more (budget)",
                                                       config::ratio_text(client.budget->ratio),
                                                       config::duration_text(client.budget->window),
                                                       config::rate_text(client.budget->floor_per_second))
                                         : "no limit (budget: off)";
  return fmt::format("service config: {}; configuration: {}", theirs, ours);
}

// Adds remarks about the data that the log does not have.
void remark_on_replay(const Report& report, std::vector<std::string>& remarks) {
  remarks.emplace_back(
      "The log does not show how an attempt at another time would have ended. The simulation assumes that "
      "the n-th attempt of a request, whenever it is made, ends like the n-th attempt of that request in the "
      "log.");
  for (const Compared& one : report.compared) {
    if (!one.best_case) continue;
    const std::uint64_t requests = one.measures.requests;
    const std::uint64_t open = requests - std::min(requests, one.measures.decided_by_log);
    if (open == 0) continue;
    remarks.push_back(
        fmt::format("{}: for {} of {} requests, the log has the outcome of every attempt. The other requests "
                    "need more attempts than were logged: the low estimate repeats the last outcome ({} "
                    "attempts assumed), the high estimate assumes a 200.",
                    one.name, grouped(requests - open), grouped(requests), grouped(one.measures.assumed)));
  }
  std::uint64_t unknown = 0;
  for (const Compared& one : report.compared) unknown = std::max(unknown, one.measures.unknown_rule);
  if (unknown > 0) {
    remarks.push_back(
        fmt::format("For {} requests, the headers, the query or the body decide whether the request is "
                    "idempotent. A log does not have these: the requests are assumed not to be idempotent.",
                    grouped(unknown)));
  }
}

}  // namespace

std::string range_text(const Compared& one, std::string (*shown)(double), double (Measures::*of)() const) {
  const double first = (one.measures.*of)();
  const double second = one.best_case ? (*one.best_case.*of)() : first;
  const std::string low = shown(std::min(first, second));
  const std::string high = shown(std::max(first, second));
  return low == high ? low : low + " .. " + high;
}

std::vector<Premises> premises_of(const Report& report) {
  std::vector<Premises> premises;
  if (report.model) {
    premises = {{"requests", traffic(*report.model)},
                {"upstream", upstream(*report.model)},
                {"trouble", trouble(*report.model)}};
  }
  if (report.replayed) premises.push_back({"log", log_text(*report.replayed, report.duration)});
  premises.push_back({"configuration", report.configuration});
  if (report.client) {
    premises.push_back({"service config", client_text(*report.client)});
    premises.push_back({"all retries", limits_text(*report.client)});
  }
  return premises;
}

std::vector<std::string> remarks_on(const Report& report) {
  std::vector<std::string> remarks = report.notes;
  if (report.replayed) remark_on_replay(report, remarks);
  if (report.model) {
    const auto most = most_served_per_second(*report.model);
    if (most && report.model->rate > *most)
      remarks.push_back(fmt::format(
          "More requests arrive ({}) than the upstream can serve ({}): no policy can correct that.",
          per_second(report.model->rate), per_second(*most)));
  }
  for (const Compared& one : report.compared) {
    const Measures& measures = one.measures;
    if (measures.trouble_ended && !measures.recovered)
      remarks.push_back(one.name +
                        ": had not recovered when the last request arrived. The last requests may succeed "
                        "only because no more arrive.");
    if (measures.turned_away > 0)
      remarks.push_back(
          fmt::format("{}: {} requests arrived while {} others were open, which is the limit of the "
                      "simulation. They count as failed.",
                      one.name, grouped(measures.turned_away), grouped(most_under_way)));
    if (measures.unfinished > 0)
      remarks.push_back(
          fmt::format("{}: {} requests were still open {} after the last one arrived. They count as failed.",
                      one.name, grouped(measures.unfinished), span_text(longest_tail)));
  }
  return remarks;
}

}  // namespace reprise::tools
