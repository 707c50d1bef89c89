#include "proxy/tools/simulate/model/model_keys.hpp"

#include <array>
#include <vector>

#include "config/keys/scalar.hpp"
#include "proxy/tools/simulate/model/values.hpp"

namespace reprise::tools {
namespace {

using Complaint = std::optional<std::string>;

Complaint put_whole(std::string_view text, std::uint64_t lowest, std::uint64_t highest,
                    std::uint64_t& target) {
  const auto parsed = config::parse_whole(text);
  if (!parsed) return parsed.reason;
  if (*parsed.value < lowest || *parsed.value > highest)
    return "is out of range: from " + std::to_string(lowest) + " to " + std::to_string(highest);
  target = *parsed.value;
  return std::nullopt;
}

Complaint put_span(std::string_view text, Duration lowest, Duration highest, Duration& target) {
  const auto parsed = config::parse_duration(text);
  if (!parsed) return parsed.reason;
  if (*parsed.value < lowest || *parsed.value > highest) {
    return "is out of range: from " + config::duration_text(lowest) + " to " + config::duration_text(highest);
  }
  target = *parsed.value;
  return std::nullopt;
}

template <typename Value>
Complaint add(std::string_view text, std::vector<Value>& to, Complaint (*read)(std::string_view, Value&)) {
  if (to.size() >= 100) return "is too many: at most 100 are allowed";
  Value made;
  if (auto wrong = read(text, made)) return wrong;
  to.push_back(std::move(made));
  return std::nullopt;
}

Complaint put_rate(Model& model, std::string_view text) {
  const auto parsed = config::parse_rate(text);
  if (!parsed) return parsed.reason;
  if (*parsed.value > 1e6) return "is too high: at most 1000000/s";
  model.rate = *parsed.value;
  return std::nullopt;
}

Complaint put_arrivals(Model& model, std::string_view text) {
  if (text != "poisson" && text != "even") return "is not an arrival pattern: write poisson or even";
  model.arrivals = text == "even" ? Arrivals::even : Arrivals::poisson;
  return std::nullopt;
}

Complaint put_patience(Model& model, std::string_view text) {
  if (text == "unlimited") {
    model.patience.reset();
    return std::nullopt;
  }
  Duration patience{};
  if (auto wrong = put_span(text, std::chrono::milliseconds(1), longest_run, patience)) return wrong;
  model.patience = patience;
  return std::nullopt;
}

Complaint put_capacity(Model& model, std::string_view text) {
  if (text == "unlimited") {
    model.capacity.reset();
    return std::nullopt;
  }
  std::uint64_t capacity = 0;
  if (auto wrong = put_whole(text, 1, 1'000'000, capacity)) return *wrong + ", or unlimited";
  model.capacity = capacity;
  return std::nullopt;
}

Complaint put_limit(Model& model, std::string_view text) {
  if (text == "none") {
    model.limit.reset();
    return std::nullopt;
  }
  RateLimit limit;
  if (auto wrong = read_limit(text, limit)) return wrong;
  model.limit = limit;
  return std::nullopt;
}

// Returns true if the text is the word for an empty list.
bool is_none(std::string_view text) { return text == "none"; }

Complaint put_outage(Model& model, std::string_view text) {
  return is_none(text) ? std::nullopt : add(text, model.outages, &read_outage);
}
Complaint put_error(Model& model, std::string_view text) {
  return is_none(text) ? std::nullopt : add(text, model.errors, &read_error);
}

constexpr std::array<ModelKey, 14> keys{{
    {"rate", "requests per second of all clients together (500/s)", false, &put_rate},
    {"duration", "time during which requests arrive (60s)", false,
     [](Model& model, std::string_view text) {
       return put_span(text, std::chrono::milliseconds(100), longest_run, model.duration);
     }},
    {"arrivals", "arrival pattern: poisson (random) or even", false, &put_arrivals},
    {"burst", "more requests that arrive at once: AT+REQUESTS, such as 20s+1000; repeatable", true,
     [](Model& model, std::string_view text) { return add(text, model.bursts, &read_burst); },
     [](Model& model) { model.bursts.clear(); }},
    {"mix",
     "a kind of request and its share: \"GET 90%\", \"POST http://host/path Name:value 10%\", \"GRPC "
     "shop.Catalog/GetItem 10%\"; repeatable",
     true, [](Model& model, std::string_view text) { return add(text, model.mix, &read_kind); },
     [](Model& model) { model.mix.clear(); }},
    {"clients", "number of clients, each with its own reprise (20)", false,
     [](Model& model, std::string_view text) { return put_whole(text, 1, most_clients, model.clients); }},
    {"patience", "time after which the application gives up (unlimited)", false, &put_patience},
    {"latency",
     "time that the upstream needs for a request: fixed:D, uniform:D,D, exp:MEAN or lognormal:MEDIAN,SIGMA",
     false, [](Model& model, std::string_view text) { return read_latency(text, model.latency); }},
    {"capacity", "number of requests that the upstream serves at a time (40), or unlimited", false,
     &put_capacity},
    {"queue", "number of requests that wait at the upstream (200); further requests get a 503", false,
     [](Model& model, std::string_view text) { return put_whole(text, 0, 1'000'000, model.queue); }},
    {"refusal", "time that the upstream spends on each 503 that it sends because its queue is full (20ms)",
     false,
     [](Model& model, std::string_view text) {
       return put_span(text, Duration::zero(), std::chrono::hours(1), model.refusal);
     }},
    {"outage",
     "time in which the upstream is down (15s+2s; earlier and shorter in a run that this does not fit): "
     "AT+LENGTH, such as 10s+5s, or AT+LENGTH:KIND, where KIND is a status, grpc-unavailable, refused, tls, "
     "reset or hang; repeatable; or none",
     true, &put_outage,
     [](Model& model) {
       model.outages.clear();
       model.has_default_outage = false;
     }},
    {"error",
     "fraction of attempts that fail this way: 1%:503, or grpc-unavailable, refused, tls, reset, hang; "
     "repeatable; or none",
     true, &put_error, [](Model& model) { model.errors.clear(); }},
    {"limit", "rate above which the upstream responds with 429: 400/s, 400/s:retry-after=2s (none)", false,
     &put_limit},
}};

}  // namespace

std::span<const ModelKey> model_keys() { return keys; }

const ModelKey* find_model_key(std::string_view name) {
  for (const ModelKey& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string latency_text(const Latency& latency) {
  const std::string first = config::duration_text(latency.first);
  switch (latency.kind) {
    case Latency::Kind::uniform: return "uniform:" + first + "," + config::duration_text(latency.highest);
    case Latency::Kind::exponential: return "exp:" + first;
    case Latency::Kind::lognormal: return "lognormal:" + first + "," + config::number_text(latency.sigma);
    case Latency::Kind::fixed: break;
  }
  return "fixed:" + first;
}

}  // namespace reprise::tools
