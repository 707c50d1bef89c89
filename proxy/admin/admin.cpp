#include "proxy/admin/admin.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <memory>
#include <tuple>

#include "proxy/io/descriptors.hpp"
#include "proxy/match/ascii.hpp"
#include "proxy/admin/admin_visits.hpp"
#include "proxy/upstream/address.hpp"

namespace reprise::net {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

using Query = bhttp::request<bhttp::empty_body>;
using Page = bhttp::response<bhttp::string_body>;

constexpr Duration write_limit = std::chrono::seconds(60);
constexpr Duration admin_accept_pause = std::chrono::milliseconds(100);
constexpr std::uint32_t header_limit = 8192;

/// What all connections have in common, and own together.
struct AdminHouse {
  Worker& worker;
  asio::thread_pool& helper;
  const AdminPages& pages;
  bool loopback;  ///< bound to this machine alone
  AdminVisits visits;
};

std::string_view path_of(const Query& query) {
  const std::string_view target(query.target().data(), query.target().size());
  return target.substr(0, target.find('?'));
}

// The host in Host, without its port; empty: there is none, or none that a browser would send.
std::string host_of(const Query& query) {
  const auto field = query[bhttp::field::host];
  std::string_view host(field.data(), field.size());
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return policy::lower(host);
}

bool is_an_address(const std::string& host) {
  if (host == "localhost") return true;
  ErrorCode error;
  asio::ip::make_address(host, error);
  return !error;
}

// What a page of another site asks for under a name of its own, which it made point here (row L23).
bool is_rebound(const Query& query) {
  const std::string host = host_of(query);
  return !host.empty() && !is_an_address(host);
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

Page json_page(const Query& query, std::string body) {
  Page page = text_page(query, bhttp::status::ok, std::move(body));
  page.set(bhttp::field::content_type, "application/json");
  return page;
}

constexpr std::string_view stories_path = "/stories";

bool is_private(std::string_view path) { return path == "/status" || path.starts_with(stories_path); }

// Of one segment of a path; what is no escape stays as it is (RFC 3986 2.1).
std::string unescaped(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    unsigned char byte = 0;
    const char* const end = segment.data() + std::min(i + 3, segment.size());
    const bool escape = segment[i] == '%' && i + 2 < segment.size() &&
                        std::from_chars(segment.data() + i + 1, end, byte, 16).ptr == end;
    text += escape ? static_cast<char>(byte) : segment[i];
    if (escape) i += 2;
  }
  return text;
}

Page story_page(const Query& query, std::string_view id, const AdminPages& pages) {
  const std::string_view target(query.target().data(), query.target().size());
  const StoryForm form = target.ends_with("?format=text") ? StoryForm::text : StoryForm::json;
  auto told = pages.story(unescaped(id), form);
  if (!told)
    return text_page(query, bhttp::status::not_found,
                     "no such request: it was never here, or newer ones have taken its place "
                     "(limits.stories)\n");
  return form == StoryForm::text ? text_page(query, bhttp::status::ok, std::move(*told))
                                 : json_page(query, std::move(*told));
}

// What tells of requests and of the configuration is for this machine alone.
Page private_page(const Query& query, std::string_view path, bool local, const AdminPages& pages) {
  if (!local)
    return text_page(query, bhttp::status::forbidden, std::string(path) + " answers this machine only\n");
  if (!is_an_address(host_of(query)))
    return text_page(query, bhttp::status::forbidden, "Host must be an address or localhost\n");
  if (path == "/status") return json_page(query, pages.status());
  if (path == stories_path) return json_page(query, pages.stories());
  if (path.size() > stories_path.size() + 1 && path[stories_path.size()] == '/')
    return story_page(query, path.substr(stories_path.size() + 1), pages);
  return text_page(query, bhttp::status::not_found, "a story is at /stories/ID\n");
}

Task<Page> make_page(const Query& query, bool local, AdminHouse& house) {
  if (query.method() != bhttp::verb::get && query.method() != bhttp::verb::head) {
    Page page = text_page(query, bhttp::status::method_not_allowed, "only GET and HEAD\n");
    page.set(bhttp::field::allow, "GET, HEAD");
    co_return page;
  }
  const std::string_view path = path_of(query);
  if (is_private(path)) co_return private_page(query, path, local, house.pages);
  const bool known = path == "/livez" || path == "/readyz" || path == "/metrics";
  if (known && house.loopback && is_rebound(query))
    co_return text_page(query, bhttp::status::misdirected_request, "Host must be an address or localhost\n");
  if (path == "/livez") co_return text_page(query, bhttp::status::ok, "alive\n");
  if (path == "/readyz") {
    const bool ready = house.pages.ready();
    co_return text_page(query, ready ? bhttp::status::ok : bhttp::status::service_unavailable,
                        ready ? "ready\n" : "draining\n");
  }
  if (path == "/metrics") {
    Page page = text_page(query, bhttp::status::ok,
                          co_await asio::co_spawn(house.helper, render(house.pages), asio::use_awaitable));
    page.set(bhttp::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    co_return page;
  }
  co_return text_page(query, bhttp::status::not_found,
                      "reprise admin: /livez /readyz /metrics /status /stories\n");
}

// False where none comes, or not in time.
Task<bool> read_query(Worker& worker, AdminVisit& visit, beast::flat_buffer& buffer,
                      bhttp::request_parser<bhttp::empty_body>& parser) {
  const config::Timers timers = worker.snapshot->settings.timers;
  parser.header_limit(header_limit);
  if (buffer.size() == 0) {
    visit.limit(timers.keep_alive);
    const auto [gone] = co_await visit.socket().async_wait(tcp::socket::wait_read, as_result);
    if (gone) co_return false;
  }
  visit.limit(timers.header);
  const auto [unread, bytes] = co_await bhttp::async_read(visit.socket(), buffer, parser, as_result);
  co_return !unread;
}

Task<bool> send_page(AdminVisit& visit, const Page& page, bool head_only) {
  visit.limit(write_limit);
  bhttp::response_serializer<bhttp::string_body> serializer(page);
  ErrorCode unsent;
  if (head_only) {
    std::tie(unsent, std::ignore) = co_await bhttp::async_write_header(visit.socket(), serializer, as_result);
  } else {
    std::tie(unsent, std::ignore) = co_await bhttp::async_write(visit.socket(), serializer, as_result);
  }
  co_return !unsent;
}

Task<void> serve_admin(std::shared_ptr<AdminHouse> shared, tcp::socket socket) {
  AdminHouse& house = *shared;
  AdminVisit visit(house.visits, house.worker.tick, std::move(socket));
  beast::flat_buffer buffer;
  ErrorCode no_peer;
  const auto peer = visit.socket().remote_endpoint(no_peer);
  const bool local = !no_peer && is_loopback(peer.address());
  for (bool stays = true; stays; visit.answered()) {
    bhttp::request_parser<bhttp::empty_body> parser;
    if (!co_await read_query(house.worker, visit, buffer, parser)) co_return;
    visit.asked();
    Page page = co_await make_page(parser.get(), local, house);
    page.prepare_payload();
    stays = page.keep_alive() && !house.worker.draining;
    page.keep_alive(stays);
    if (!co_await send_page(visit, page, parser.get().method() == bhttp::verb::head)) co_return;
  }
  ErrorCode ignored;
  visit.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

// Where every connection is being answered, the new one goes.
bool find_room(AdminHouse& house) {
  if (house.visits.has_room()) return true;
  if (!house.visits.make_room()) return false;
  house.worker.shared.metrics.count_limit(observe::LimitHit::room);
  return true;
}

}  // namespace

Task<void> accept_admin(Worker& worker, std::shared_ptr<tcp::acceptor> listening, asio::thread_pool& helper,
                        const AdminPages& pages, std::size_t most) {
  tcp::acceptor& acceptor = *listening;
  ErrorCode unbound;
  const std::shared_ptr<AdminHouse> house(new AdminHouse{
      worker, helper, pages, is_loopback(acceptor.local_endpoint(unbound).address()), AdminVisits(most)});
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (!error) {
      if (find_room(*house)) asio::co_spawn(worker.io, serve_admin(house, std::move(socket)), or_abort);
      continue;
    }
    // Without a descriptor accept(2) fails whether somebody waits or not: once somebody does, an idle
    // connection gives its own up.
    const bool scarce = is_out_of_descriptors(error.value());
    if (scarce) co_await acceptor.async_wait(tcp::acceptor::wait_read, as_result);
    if (scarce && house->visits.make_room()) continue;
    Timer pause(worker.io, admin_accept_pause);
    co_await pause.async_wait(as_result);
  }
}

}  // namespace reprise::net
