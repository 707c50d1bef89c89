#include "proxy/net/admin.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <tuple>

namespace reprise::net {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

using Query = bhttp::request<bhttp::empty_body>;
using Page = bhttp::response<bhttp::string_body>;

constexpr Duration connection_limit = std::chrono::seconds(60);
constexpr std::uint32_t header_limit = 8192;

/// Ends a connection that is silent for too long.
class Deadline final : public Timed {
 public:
  explicit Deadline(tcp::socket& socket) : socket_(socket) {}

 protected:
  void time_is_up() override {
    ErrorCode ignored;
    socket_.cancel(ignored);
  }

 private:
  tcp::socket& socket_;
};

std::string_view path_of(const Query& query) {
  const std::string_view target(query.target().data(), query.target().size());
  return target.substr(0, target.find('?'));
}

bool host_is_an_address(const Query& query) {
  const auto field = query[bhttp::field::host];
  std::string_view host(field.data(), field.size());
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host == "localhost") return true;
  ErrorCode error;
  asio::ip::make_address(std::string(host), error);
  return !error;
}

Page text_page(const Query& query, bhttp::status status, std::string body) {
  Page page(status, query.version());
  page.set(bhttp::field::content_type, "text/plain; charset=utf-8");
  page.set("X-Content-Type-Options", "nosniff");
  page.body() = std::move(body);
  page.keep_alive(query.keep_alive());
  return page;
}

Task<std::string> render(const AdminPages& pages) { co_return pages.metrics(); }

Task<Page> make_page(const Query& query, bool local, asio::thread_pool& helper, const AdminPages& pages) {
  if (query.method() != bhttp::verb::get && query.method() != bhttp::verb::head) {
    Page page = text_page(query, bhttp::status::method_not_allowed, "only GET and HEAD\n");
    page.set(bhttp::field::allow, "GET, HEAD");
    co_return page;
  }
  const std::string_view path = path_of(query);
  if (path == "/livez") co_return text_page(query, bhttp::status::ok, "alive\n");
  if (path == "/readyz") {
    const bool ready = pages.ready();
    co_return text_page(query, ready ? bhttp::status::ok : bhttp::status::service_unavailable,
                        ready ? "ready\n" : "draining\n");
  }
  if (path == "/metrics") {
    Page page = text_page(query, bhttp::status::ok,
                          co_await asio::co_spawn(helper, render(pages), asio::use_awaitable));
    page.set(bhttp::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    co_return page;
  }
  if (path == "/status") {
    if (!local) co_return text_page(query, bhttp::status::forbidden, "/status answers this machine only\n");
    if (!host_is_an_address(query)) {
      co_return text_page(query, bhttp::status::forbidden, "Host must be an address or localhost\n");
    }
    Page page = text_page(query, bhttp::status::ok, pages.status());
    page.set(bhttp::field::content_type, "application/json");
    co_return page;
  }
  co_return text_page(query, bhttp::status::not_found, "reprise admin: /livez /readyz /metrics /status\n");
}

Task<void> serve_admin(Loop& loop, tcp::socket socket, asio::thread_pool& helper, const AdminPages& pages) {
  Deadline deadline(socket);
  beast::flat_buffer buffer;
  ErrorCode no_peer;
  const auto peer = socket.remote_endpoint(no_peer);
  const bool local = !no_peer && peer.address().is_loopback();
  for (;;) {
    bhttp::request_parser<bhttp::empty_body> parser;
    parser.header_limit(header_limit);
    loop.tick.arm(deadline, connection_limit);
    const auto [unread, bytes_read] = co_await bhttp::async_read(socket, buffer, parser, as_result);
    if (unread) co_return;
    Page page = co_await make_page(parser.get(), local, helper, pages);
    page.prepare_payload();
    const bool stays = page.keep_alive() && !loop.draining;
    page.keep_alive(stays);
    bhttp::response_serializer<bhttp::string_body> serializer(page);
    const bool head_only = parser.get().method() == bhttp::verb::head;
    ErrorCode unsent;
    if (head_only) {
      std::tie(unsent, std::ignore) = co_await bhttp::async_write_header(socket, serializer, as_result);
    } else {
      std::tie(unsent, std::ignore) = co_await bhttp::async_write(socket, serializer, as_result);
    }
    if (unsent || !stays) break;
  }
  ErrorCode ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

Task<void> accept_admin(Loop& loop, tcp::acceptor& acceptor, asio::thread_pool& helper,
                        const AdminPages& pages) {
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) {
      Timer pause(loop.io, std::chrono::milliseconds(100));
      co_await pause.async_wait(as_result);
      continue;
    }
    asio::co_spawn(loop.io, serve_admin(loop, std::move(socket), helper, pages), or_abort);
  }
}

}  // namespace reprise::net
