#include "proxy/cli/commands/demo_upstream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/query.hpp"
#include "proxy/policy/match/status_range.hpp"

namespace reprise::cli {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

/// A step of the script: a status, or a reset of the connection.
struct Step {
  int status = 200;
  bool reset = false;
};

std::optional<std::vector<Step>> parse_script(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    Step step;
    step.reset = word == "reset";
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), step.status);
    const bool is_status = parsed.ec == std::errc() && parsed.ptr == word.data() + word.size();
    if (!step.reset && (!is_status || step.status < 200 || step.status > policy::highest_status))
      return std::nullopt;
    steps.push_back(step);
  }
  if (steps.empty()) return std::nullopt;
  return steps;
}

std::optional<tcp::endpoint> parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  ErrorCode error;
  const auto address = asio::ip::make_address(text.substr(0, colon), error);
  if (error || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return tcp::endpoint(address, port);
}

/// Steps through the script. Each request id has its own position in the script.
class ScriptedSteps {
 public:
  explicit ScriptedSteps(std::vector<Step> steps) : steps_(std::move(steps)) {}

  Step next(const std::string& id) {
    std::size_t& seen = seen_[id];
    const Step step = steps_[std::min(seen, steps_.size() - 1)];
    ++seen;
    return step;
  }

 private:
  std::vector<Step> steps_;
  std::map<std::string, std::size_t> seen_;
};

using Query = bhttp::request<bhttp::string_body>;

std::string id_of(std::string_view query) {
  std::string id;
  policy::any_parameter(query, [&](const policy::Parameter& given) {
    if (given.name == "id") id = given.value;
    return given.name == "id";
  });
  return id;
}

Step step_for(std::string_view target, ScriptedSteps& stage) {
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  if (path == "/reset") return {0, true};
  if (path != "/flaky") return {200, false};
  return stage.next(id_of(mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1)));
}

void print_step(const Query& query, const Step& step) {
  const std::string method(query.method_string());
  const std::string target(query.target());
  const std::string response = step.reset ? "connection reset" : std::to_string(step.status);
  std::printf("upstream: %s %s -> %s\n", method.c_str(), target.c_str(), response.c_str());
  std::fflush(stdout);
}

bhttp::response<bhttp::string_body> page_for(const Query& query, const Step& step) {
  bhttp::response<bhttp::string_body> page(static_cast<bhttp::status>(step.status), query.version());
  page.set(bhttp::field::content_type, "text/plain");
  page.body() =
      step.status < 400 ? "hello from the flaky upstream\n" : "the upstream is having a bad moment\n";
  page.keep_alive(query.keep_alive());
  page.prepare_payload();
  return page;
}

Task<void> serve_demo(tcp::socket socket, ScriptedSteps& stage) {
  beast::flat_buffer buffer;
  for (;;) {
    Query query;
    const auto [unread, bytes_read] = co_await bhttp::async_read(socket, buffer, query, as_result);
    if (unread) co_return;
    const std::string_view target(query.target().data(), query.target().size());
    const Step step = step_for(target, stage);
    if (target.starts_with("/slow")) {
      asio::steady_timer pause(socket.get_executor(), std::chrono::seconds(1));
      co_await pause.async_wait(as_result);
    }
    print_step(query, step);
    if (step.reset) {
      ErrorCode ignored;
      socket.set_option(asio::socket_base::linger(true, 0), ignored);
      co_return;
    }
    const auto page = page_for(query, step);
    const auto [unsent, bytes_sent] = co_await bhttp::async_write(socket, page, as_result);
    if (unsent || !page.keep_alive()) co_return;
  }
}

Task<void> accept_demo(tcp::acceptor& acceptor, ScriptedSteps& stage) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error) co_return;
    asio::co_spawn(acceptor.get_executor(), serve_demo(std::move(socket), stage), asio::detached);
  }
}

}  // namespace

bool run_demo(const DemoOptions& options) {
  const auto endpoint = parse_endpoint(options.bind);
  const auto steps = parse_script(options.script);
  if (!endpoint || !steps) {
    std::fprintf(stderr,
                 "reprise: demo: invalid --bind or --script: write --bind ADDRESS:PORT and a --script such "
                 "as 503,reset,200\n");
    return false;
  }
  asio::io_context io(1);
  tcp::acceptor acceptor(io);
  ErrorCode error;
  acceptor.open(endpoint->protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(*endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    std::fprintf(stderr, "reprise: demo cannot listen on %s: %s\n", options.bind.c_str(),
                 error.message().c_str());
    return false;
  }
  std::printf("listening on %s:%u\n", acceptor.local_endpoint().address().to_string().c_str(),
              static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  ScriptedSteps stage(*steps);
  asio::co_spawn(io, accept_demo(acceptor, stage), asio::detached);
  io.run();
  return true;
}

}  // namespace reprise::cli
