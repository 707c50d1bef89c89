#include "tests/support/running_proxy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace reprise::play {

Wishes::Wishes() {
  route.retry.backoff.initial = std::chrono::milliseconds(1);
  route.retry.backoff.jitter = policy::Jitter::none;
  settings.admin.bind.port = 0;
  settings.shutdown.grace = std::chrono::seconds(5);
}

config::Settings whole(const Wishes& wishes) {
  config::Settings settings = wishes.settings;
  settings.listeners.front().bind.port = 0;
  settings.listeners.front().mode = wishes.mode;
  if (wishes.gateway_to != 0) {
    config::Listener gateway;
    gateway.mode = config::ListenerMode::gateway;
    gateway.bind.port = 0;
    gateway.upstream.host = "127.0.0.1";
    gateway.upstream.port = wishes.gateway_to;
    settings.listeners.push_back(gateway);
  }
  policy::Route fallback;
  fallback.name = "default";
  fallback.policy = wishes.route;
  settings.routes =
      std::make_shared<const policy::RouteTable>(std::vector<policy::Route>{}, std::move(fallback));
  return settings;
}

RunningProxy::RunningProxy(Wishes wishes) : log_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
  server::ProxyOptions options;
  options.version = "test";
  options.log_descriptor = wishes.log_descriptor < 0 ? log_ : wishes.log_descriptor;
  options.handle_signals = wishes.handle_signals;
  options.query = wishes.query;
  options.files = wishes.files;
  options.authority = wishes.authority;
  options.reload = wishes.reload;
  options.sniff_limit = wishes.sniff_limit;
  if (wishes.turn) options.turn = wishes.turn;
  if (!options.query) options.query = [](const net::Resolver::Question& question) { question.complete({}); };
  proxy_ = std::make_unique<server::Proxy>(whole(wishes), std::move(options));
  ports_ = ports_now();
  thread_ = std::thread([this] {
    proxy_->run();
    ended_ = true;
  });
}

RunningProxy::~RunningProxy() {
  stop();
  join();
  proxy_.reset();
  ::close(log_);
}

std::vector<std::uint16_t> RunningProxy::ports_now() const {
  std::vector<std::uint16_t> ports;
  for (const auto& endpoint : proxy_->endpoints()) ports.push_back(endpoint.port());
  return ports;
}

void RunningProxy::join() {
  if (thread_.joinable()) thread_.join();
}

std::string RunningProxy::metrics() const {
  RawClient client(admin_port());
  return client.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body;
}

double RunningProxy::metric(std::string_view series) const {
  const std::string page = "\n" + metrics();
  const auto place = page.find("\n" + std::string(series) + " ");
  if (place == std::string::npos) return -1;
  return std::strtod(page.c_str() + place + series.size() + 2, nullptr);
}

std::string get(std::string_view authority, std::string_view path, std::string_view fields) {
  std::string text = "GET http://" + std::string(authority) + std::string(path) + " HTTP/1.1\r\nHost: ";
  return text.append(authority).append("\r\n").append(fields).append("\r\n");
}

std::string with_body(std::string_view method, std::string_view authority, std::string_view body,
                      std::string_view fields) {
  std::string text(method);
  text.append(" http://").append(authority).append("/ HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  text.append(fields).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return text.append(body);
}

}  // namespace reprise::play
