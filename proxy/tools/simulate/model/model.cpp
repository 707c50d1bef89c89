#include "proxy/tools/simulate/model/model.hpp"

#include <algorithm>
#include <cmath>

#include "config/keys/scalar.hpp"

namespace reprise::tools {
namespace {

constexpr double longest_latency = 86'400e9;

double nanoseconds(Duration span) { return static_cast<double>(span.count()); }

std::optional<Contradiction> contradiction_of_outages(const Model& model) {
  std::vector<Outage> sorted = model.outages;
  std::sort(sorted.begin(), sorted.end(), [](const Outage& a, const Outage& b) { return a.from < b.from; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string at = config::duration_text(sorted[i].from);
    if (sorted[i].from >= model.duration) {
      return Contradiction{"outage", "the outage at " + at +
                                         " begins after the last request: the duration is " +
                                         config::duration_text(model.duration)};
    }
    if (i > 0 && sorted[i].from < sorted[i - 1].from + sorted[i - 1].length)
      return Contradiction{
          "outage", "the outage at " + at + " begins before the previous outage ends: make them one outage"};
  }
  return std::nullopt;
}

std::optional<Contradiction> contradiction_of_shares(const Model& model) {
  double failing = 0;
  for (const ErrorShare& error : model.errors) failing += error.share;
  if (failing > 1 + 1e-9) return Contradiction{"error", "the shares add up to more than 100%"};
  double all = 0;
  for (const RequestKind& kind : model.mix) all += kind.share;
  if (std::abs(all - 1) > 1e-6) {
    return Contradiction{
        "mix", "the shares add up to " + config::ratio_text(std::round(all * 1e4) / 1e4) + ", not to 100%"};
  }
  return std::nullopt;
}

bool is_status_of_calls(const Trouble& trouble) {
  const auto* responded = std::get_if<policy::Responded>(&trouble.outcome);
  return responded != nullptr && responded->grpc;
}

// Only calls can end with a status of gRPC.
std::optional<Contradiction> contradiction_of_calls(const Model& model) {
  const bool only_calls =
      std::all_of(model.mix.begin(), model.mix.end(), [](const RequestKind& kind) { return kind.call; });
  if (only_calls) return std::nullopt;
  const auto why = [](const Trouble& trouble) {
    return trouble.word +
           " is the status of a gRPC call, but not all requests are calls: write a mix of calls, such as "
           "\"GRPC shop.Catalog/GetItem 100%\", or a status of HTTP";
  };
  for (const Outage& outage : model.outages) {
    if (is_status_of_calls(outage.trouble)) return Contradiction{"outage", why(outage.trouble)};
  }
  for (const ErrorShare& error : model.errors) {
    if (is_status_of_calls(error.trouble)) return Contradiction{"error", why(error.trouble)};
  }
  return std::nullopt;
}

}  // namespace

Duration Latency::draw(Chance& chance) const {
  double drawn = nanoseconds(first);
  switch (kind) {
    case Kind::fixed: break;
    case Kind::uniform: drawn += chance.uniform() * (nanoseconds(highest) - drawn); break;
    case Kind::exponential: drawn *= chance.exponential(); break;
    case Kind::lognormal: drawn *= power_of_e(sigma * chance.normal()); break;
  }
  return Duration(static_cast<Duration::rep>(std::clamp(drawn, 1.0, longest_latency)));
}

double Latency::mean_seconds() const {
  const double seconds = nanoseconds(first) / 1e9;
  switch (kind) {
    case Kind::uniform: return (seconds + nanoseconds(highest) / 1e9) / 2;
    case Kind::lognormal: return seconds * power_of_e(sigma * sigma / 2);
    case Kind::fixed:
    case Kind::exponential: break;
  }
  return seconds;
}

double expected_requests(const Model& model) {
  double requests = model.rate * nanoseconds(model.duration) / 1e9;
  for (const Burst& burst : model.bursts) requests += static_cast<double>(burst.requests);
  return requests;
}

std::optional<double> most_served_per_second(const Model& model) {
  if (!model.capacity) return std::nullopt;
  return static_cast<double>(*model.capacity) / model.latency.mean_seconds();
}

void fit_default_outage(Model& model) {
  if (!model.has_default_outage) return;
  const Model usual;
  Outage& outage = model.outages.front();
  if (outage.from + outage.length <= model.duration) return;
  const auto share = [&](Duration part) {
    return std::chrono::floor<std::chrono::milliseconds>(model.duration / (usual.duration / part));
  };
  outage.from = share(outage.from);
  outage.length = share(outage.length);
}

std::optional<Contradiction> contradiction(const Model& model) {
  const double requests = expected_requests(model);
  if (requests > most_requests) {
    return Contradiction{
        "duration", "about " + std::to_string(std::llround(requests)) +
                        " requests are too many; a run has at most 20000000: lower the rate or the duration"};
  }
  if (requests < 1) return Contradiction{"rate", "no request would arrive: raise the rate, or add a burst"};
  for (const Burst& burst : model.bursts) {
    if (burst.at >= model.duration) {
      return Contradiction{"burst", "the burst at " + config::duration_text(burst.at) +
                                        " comes after the end: the duration is " +
                                        config::duration_text(model.duration)};
    }
  }
  if (auto outages = contradiction_of_outages(model)) return outages;
  if (auto shares = contradiction_of_shares(model)) return shares;
  return contradiction_of_calls(model);
}

}  // namespace reprise::tools
