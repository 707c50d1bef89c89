// Measures the parsing of a head: by the framing guard alone, and by the guard and Beast together.
#include <benchmark/benchmark.h>

#include <string>

#include "proxy/http/http1/guard.hpp"
#include "proxy/http/http1/parse.hpp"

namespace reprise::http {
namespace {

std::string request_with(std::int64_t fields) {
  std::string text = "GET http://api.example:8080/v1/orders/17 HTTP/1.1\r\nHost: api.example:8080\r\n";
  for (std::int64_t i = 0; i < fields; ++i)
    text += "X-Bench-Header-" + std::to_string(10 + i) + ": some-typical-value-9e3779b1\r\n";
  return text + "\r\n";
}

void read_requests(benchmark::State& state,
                   Parsed (&reading)(std::string_view, const HeadLimits&, RequestHead&)) {
  const std::string text = request_with(state.range(0));
  RequestHead head;
  for (auto _ : state) benchmark::DoNotOptimize(reading(text, HeadLimits{}, head));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(read_requests, guard_alone, guard_request)->Arg(0)->Arg(5)->Arg(20);
BENCHMARK_CAPTURE(read_requests, both_readings, parse_request)->Arg(0)->Arg(5)->Arg(20);

void both_readings_of_a_response(benchmark::State& state) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nDate: Tue, 24 Nov 2026 10:00:00 GMT\r\nContent-Type: application/json\r\n"
      "Content-Length: 13\r\nServer: example\r\n\r\nHello, world!";
  ResponseHead head;
  for (auto _ : state) benchmark::DoNotOptimize(parse_response(text, HeadLimits{}, "GET", head));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(both_readings_of_a_response);

}  // namespace
}  // namespace reprise::http
