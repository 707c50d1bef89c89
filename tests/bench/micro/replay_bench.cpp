// Measures holding a request body for a second attempt: a body that arrived with its head, and a body that is
// read from the client later.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/net/ends/body_reader.hpp"
#include "tests/replay/replay_bench.hpp"

namespace reprise::net {
namespace {

http::RequestHead head_of(std::size_t length) {
  http::RequestHead head;
  head.framing.kind = http::Framing::Kind::length;
  head.framing.length = length;
  return head;
}

void hold_what_came_with_its_head(benchmark::State& state) {
  forward::StoreBench stores;
  Bench bench;
  const Pair pair = connect_pair(bench);
  const std::string text(static_cast<std::size_t>(state.range(0)), 'x');
  const http::RequestHead head = head_of(text.size());
  BodyReader reader;
  forward::RequestBody body;
  for (auto _ : state) {
    Buffer buffer;
    std::memcpy(buffer.room().data(), text.data(), text.size());
    buffer.commit(text.size());
    reader.begin(*pair.stream, buffer, head.framing);
    body.begin(reader, *stores.store, head, {1 << 16, 0, 1 << 16});
    benchmark::DoNotOptimize(body.held());
    body.end();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  stores.store->stop();
}
BENCHMARK(hold_what_came_with_its_head)->Arg(100)->Arg(10'000);

Task<int> read_all(forward::RequestBody& body) {
  std::string_view piece;
  while (co_await body.next(long_enough, piece) == BodyStep::piece) benchmark::DoNotOptimize(piece);
  co_return 1;
}

// The measured time includes the client's send, so only the difference between runs with and without holding
// is meaningful.
void hold_what_is_read(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::uint64_t held = state.range(1) != 0 ? 1 << 20 : 0;
  forward::StoreBench stores(4 << 20);
  Bench bench;
  Pair pair = connect_pair(bench);
  const std::string text(bytes, 'x');
  const http::RequestHead head = head_of(bytes);
  Buffer buffer;
  BodyReader reader;
  forward::RequestBody body;
  for (auto _ : state) {
    pair.raw.send(text);
    reader.begin(*pair.stream, buffer, head.framing);
    body.begin(reader, *stores.store, head, {held, 0, held});
    bench.run(read_all(body));
    body.end();
    buffer.clear();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  stores.store->stop();
}
BENCHMARK(hold_what_is_read)->ArgNames({"bytes", "held"})->ArgsProduct({{1'000, 60'000}, {0, 1}});

}  // namespace
}  // namespace reprise::net
