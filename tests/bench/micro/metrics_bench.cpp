// Measures how long it takes to count a finished request and to add it to the request history.
#include <benchmark/benchmark.h>

#include "proxy/telemetry/history/request_history.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace {

ScriptedRequest plain() {
  return ScriptedRequest("plain", "GET", "/v1/orders/17")
      .attempt(status(200), 3, {false, {}, policy::Reason::success})
      .ends(Ending::complete, 200);
}

ScriptedRequest recovered() {
  return ScriptedRequest("recovered", "GET", "/v1/orders/17")
      .attempt(status(503), 3, {true, milliseconds(40), policy::Reason::retryable_status})
      .attempt(status(200), 3, {false, {}, policy::Reason::success})
      .ends(Ending::complete, 200);
}

void count(benchmark::State& state, const ScriptedRequest& request) {
  const auto metrics = net::make_metrics();
  const ExchangeRecord record = request.record();
  for (auto _ : state) metrics->count(record);
}

void count_a_request(benchmark::State& state) { count(state, plain()); }
BENCHMARK(count_a_request);

void count_a_recovered_request(benchmark::State& state) { count(state, recovered()); }
BENCHMARK(count_a_recovered_request);

void keep_a_story(benchmark::State& state) {
  ThreadHistory book(1 << 20, 1, 1);
  const ScriptedRequest request = plain();
  ExchangeRecord record = request.record();
  for (auto _ : state) {
    record.number = book.next_number();
    book.keep(record, true);
  }
}
BENCHMARK(keep_a_story);

}  // namespace
}  // namespace reprise::telemetry
