#include "proxy/tools/top/reading.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "proxy/policy/match/ascii.hpp"
#include "proxy/tools/top/json_members.hpp"

namespace reprise::tools {
namespace {

namespace json = boost::json;

// Maximum depth of nesting in a JSON document. The documents of a proxy are nested less deeply.
constexpr std::size_t most_depth = 16;

std::optional<json::value> parsed(std::string_view text, std::string& why) {
  json::parse_options options;
  options.max_depth = most_depth;
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (!error) return value;
  why = "the response is not JSON: " + error.message();
  return std::nullopt;
}

CountsByWord counts_by_word(const Members& of, std::string_view name) {
  CountsByWord all;
  for (auto& [word, number] : of.named_numbers(name)) all.emplace_back(std::move(word), count_in(number));
  return all;
}

RouteReading route_in(const Members& of) {
  RouteReading route;
  route.name = of.text("name");
  route.mode = of.text("mode");
  route.counts.requests = of.count("requests");
  route.counts.retries = of.count("retries");
  route.counts.recovered = of.count("recovered");
  route.counts.exhausted = of.count("exhausted");
  route.counts.refused = counts_by_word(of, "refused");
  route.counts.responses = counts_by_word(of, "responses");
  for (const double number : of.numbers("durations")) route.counts.durations.push_back(count_in(number));
  route.has_responses = of.find("responses") != nullptr;
  route.has_durations = of.find("durations") != nullptr;
  return route;
}

UpstreamReading upstream_in(const Members& of) {
  UpstreamReading upstream;
  upstream.name = of.text("name");
  for (const auto& [outcome, number] : of.named_numbers("attempts")) upstream.attempts += count_in(number);
  upstream.budget_left = of.number("budget_left");
  upstream.circuit = of.text("circuit");
  if (upstream.circuit == "closed") upstream.circuit.clear();
  upstream.pause_seconds = of.number("pause_seconds");
  return upstream;
}

// Adds the upstreams that occur only under `budgets`. An older proxy does not list its upstreams elsewhere.
void add_budgets(const Members& of, std::vector<UpstreamReading>& upstreams) {
  for (auto& [name, left] : of.named_numbers("budgets")) {
    const auto has_it = [&name = name](const UpstreamReading& one) { return one.name == name; };
    const auto found = std::find_if(upstreams.begin(), upstreams.end(), has_it);
    UpstreamReading& upstream = found == upstreams.end() ? upstreams.emplace_back() : *found;
    upstream.name = std::move(name);
    if (!upstream.budget_left) upstream.budget_left = left;
  }
}

void read_totals(const Members& of, Status& status) {
  status.requests = of.count("requests");
  status.rejected = of.count("rejected");
  status.tunnels = of.count("tunnels");
  status.clients = of.whole("client_connections").value_or(0);
  if (const auto http2 = of.object("upstream_http2")) {
    status.http2_connections = http2->whole("connections").value_or(0);
    status.http2_streams = http2->whole("streams").value_or(0);
  }
  const auto connections = of.object("upstream_connections");
  if (!connections) return;
  status.upstream_active = connections->whole("active");
  status.upstream_idle = connections->whole("idle");
}

Status status_in(const Members& of) {
  Status status;
  status.version = of.text("version");
  status.started = of.whole("started").value_or(0);
  status.uptime = of.whole("uptime_seconds").value_or(0);
  status.ready = of.flag("ready");
  status.draining = of.flag("draining");
  if (const auto config = of.object("config")) {
    if (std::string file = config->text("file"); !file.empty()) status.config_file = std::move(file);
    status.config_hash = config->text("hash");
  }
  status.listeners = of.texts("listeners");
  status.duration_bounds = of.numbers("duration_bounds");
  for (const Members& route : of.objects("routes")) status.routes.push_back(route_in(route));
  for (const Members& upstream : of.objects("upstreams")) status.upstreams.push_back(upstream_in(upstream));
  add_budgets(of, status.upstreams);
  for (const Members& host : of.objects("unread"))
    status.unread.push_back({host.text("name"), host.count("tunnels"), host.text("intercept")});
  if (const auto reload = of.object("reload"))
    status.reload = ReloadReading{reload->text("outcome") == "success", reload->whole("time").value_or(0),
                                  reload->texts("errors")};
  if (const auto totals = of.object("totals")) read_totals(*totals, status);
  return status;
}

AttemptReading attempt_in(const Members& of) {
  AttemptReading attempt;
  attempt.number = of.count("n");
  attempt.address = of.text("address");
  attempt.status = static_cast<int>(std::min<std::uint64_t>(of.count("status"), 999));
  attempt.grpc = of.text("grpc");
  attempt.stage = of.text("stage");
  attempt.error = of.text("error");
  attempt.reset_code = of.text("reset_code");
  attempt.http = of.text("http");
  attempt.queued = of.number_or_0("queued_ms");
  attempt.at = of.number_or_0("at_ms");
  attempt.took = of.number_or_0("ms");
  attempt.wait = of.number_or_0("wait_ms");
  attempt.reused = of.flag("reused");
  attempt.sent_bytes = of.count("sent_bytes");
  attempt.reason = of.text("reason");
  attempt.retried = of.flag("retry");
  attempt.delay = of.number_or_0("delay_ms");
  attempt.delay_lowest = of.number_or_0("delay_lowest_ms");
  attempt.delay_highest = of.number_or_0("delay_highest_ms");
  attempt.budget_left = of.whole("budget_left");
  return attempt;
}

std::string target_of(const Members& of) {
  const std::string host = policy::host_text(of.text("host"));
  const std::uint64_t port = of.count("port");
  if (of.flag("tunnel")) return host + ":" + std::to_string(port);
  const bool tls = of.flag("tls");
  std::string url = (tls ? "https://" : "http://") + host;
  if (port != (tls ? 443U : 80U)) url += ":" + std::to_string(port);
  return url + of.text("path");
}

RequestReading story_in(const Members& of) {
  RequestReading story;
  story.id = of.text("id");
  story.time = of.text("time");
  story.route = of.text("route");
  story.client = of.text("client");
  story.method = of.text("method");
  story.target = target_of(of);
  story.status = static_cast<int>(std::min<std::uint64_t>(of.count("status"), 999));
  if (const auto call = of.object("grpc")) story.grpc = call->text("status");
  story.ending = of.text("ending");
  story.idempotent = of.flag("idempotent");
  story.own_response = of.flag("own_response");
  story.recovered = of.flag("recovered");
  story.ambiguous = of.flag("ambiguous");
  story.reason = of.text("reason");
  story.meaning = of.text("meaning");
  story.advice = of.text("advice");
  story.took = of.number_or_0("ms");
  story.request_bytes = of.count("request_bytes");
  story.response_bytes = of.count("response_bytes");
  for (const Members& attempt : of.objects("attempts")) story.attempts.push_back(attempt_in(attempt));
  story.left_out = of.count("attempts_left_out");
  story.before_the_gap = of.count("attempts_before_the_gap");
  return story;
}

}  // namespace

Read<Status> read_status(std::string_view text, const Charset* charset) {
  Read<Status> read;
  const auto document = parsed(text, read.why);
  if (!document) return read;
  const json::object* const object = document->if_object();
  if (object == nullptr || !object->contains("routes") || !object->contains("version")) {
    read.why = "the response is not a status of reprise";
    return read;
  }
  read.value = status_in({*object, charset});
  return read;
}

Read<std::vector<RequestReading>> read_requests(std::string_view text, const Charset* charset) {
  Read<std::vector<RequestReading>> read;
  const auto document = parsed(text, read.why);
  if (!document) return read;
  if (!document->is_array()) {
    read.why = "the response is not a list of requests";
    return read;
  }
  read.value.emplace();
  for (const json::value& one : document->get_array())
    if (const json::object* const story = one.if_object()) read.value->push_back(story_in({*story, charset}));
  return read;
}

}  // namespace reprise::tools
