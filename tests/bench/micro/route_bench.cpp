// Measures the search for a request's route among few and many routes: when only the last route matches, and
// when no route matches.
#include <benchmark/benchmark.h>

#include <string>

#include "proxy/policy/decision/route.hpp"

namespace reprise::policy {
namespace {

// Returns a table in which half of the routes match by host and half by path.
RouteTable table_of(std::int64_t routes) {
  std::vector<Route> list(static_cast<std::size_t>(routes));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string number = std::to_string(i);
    if (i % 2 == 0) {
      list[i].match.host.text = "host-" + number + ".example";
    } else {
      list[i].match.path = *PathPattern::parse("/v1/kind-" + number + "/{id}");
    }
  }
  return {std::move(list), Route{}};
}

void find(benchmark::State& state, const std::string& path) {
  const RouteTable table = table_of(state.range(0));
  const RequestView request{"GET", "api.example", 80, path, "", nullptr};
  for (auto _ : state) benchmark::DoNotOptimize(table.find(request));
}

void find_the_last_route(benchmark::State& state) {
  find(state, "/v1/kind-" + std::to_string(state.range(0) - 1) + "/17");
}
BENCHMARK(find_the_last_route)->Arg(2)->Arg(100)->Arg(1000);

void find_no_route(benchmark::State& state) { find(state, "/v1/orders/17"); }
BENCHMARK(find_no_route)->Arg(0)->Arg(2)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace reprise::policy
