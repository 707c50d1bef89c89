#include "proxy/server/admin/admin.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>

#include "proxy/net/io/descriptors.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/server/admin/admin_response.hpp"
#include "proxy/server/admin/admin_visits.hpp"
#include "proxy/server/admin/event_feed.hpp"
#include "proxy/server/admin/event_text.hpp"

namespace reprise::server {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

constexpr Duration write_limit = std::chrono::seconds(60);
constexpr Duration admin_accept_pause = std::chrono::milliseconds(100);
constexpr std::uint32_t header_limit = 8192;

/// State of one admin listener. Its connections share ownership of it.
struct AdminServer {
  forward::Worker& worker;
  asio::thread_pool& page_thread;
  const AdminPages& pages;
  bool loopback;  ///< the listener is bound to loopback addresses only
  AdminVisits visits;
  EventFeed feed;
};

// Reads the next request. Returns false if none arrives in time.
Task<bool> read_query(forward::Worker& worker, AdminVisit& visit, beast::flat_buffer& buffer,
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

Task<bool> send_page(AdminVisit& visit, const PageResponse& page, bool head_only) {
  visit.limit(write_limit);
  bhttp::response_serializer<bhttp::string_body> serializer(page);
  serializer.split(head_only);
  visit.moved();
  while (head_only ? !serializer.is_header_done() : !serializer.is_done()) {
    const auto [unsent, bytes] = co_await bhttp::async_write_some(visit.socket(), serializer, as_result);
    if (unsent) co_return false;
    visit.moved();
  }
  co_return true;
}

bool count_room(AdminServer& server, bool made) {
  if (made) server.worker.shared.metrics.count_limit(telemetry::LimitHit::room);
  return made;
}

bool find_room_for_page(AdminServer& server) {
  if (server.visits.has_room_for_page()) return true;
  return count_room(server, server.visits.make_room_for_page());
}

Task<void> serve_admin(std::shared_ptr<AdminServer> shared, tcp::socket socket) {
  AdminServer& server = *shared;
  AdminVisit visit(server.visits, server.worker.tick, std::move(socket));
  beast::flat_buffer buffer;
  ErrorCode no_peer;
  const auto peer = visit.socket().remote_endpoint(no_peer);
  const bool local = !no_peer && net::is_loopback(peer.address());
  for (bool stays = true; stays; visit.responded()) {
    bhttp::request_parser<bhttp::empty_body> parser;
    if (!co_await read_query(server.worker, visit, buffer, parser)) co_return;
    const AdminWork work = work_of(parser.get());
    const bool room = work == AdminWork::probe || find_room_for_page(server);
    visit.asked(room ? work : AdminWork::probe);
    const AdminVisitor visitor{local, server.loopback, room, server.feed.has_room()};
    if (begins_events(parser.get(), visitor)) {
      visit.stop_counting();
      co_return co_await server.feed.serve(shared, visit, event_stream_head(parser.get().version()));
    }
    PageResponse page = co_await respond_to(parser.get(), visitor, server.pages, server.page_thread);
    page.prepare_payload();
    stays = page.keep_alive() && !server.worker.draining;
    page.keep_alive(stays);
    if (!co_await send_page(visit, page, parser.get().method() == bhttp::verb::head)) co_return;
  }
  ErrorCode ignored;
  visit.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

// Makes room for a new connection, if necessary by closing another one. Returns false if every response is
// progressing, so that no connection may be closed. The caller then closes the new connection.
bool find_room(AdminServer& server) {
  if (server.visits.has_room()) return true;
  return count_room(server, server.visits.make_room());
}

}  // namespace

Task<void> accept_admin(forward::Worker& worker, std::shared_ptr<tcp::acceptor> listening,
                        asio::thread_pool& page_thread, const AdminPages& pages, std::size_t most) {
  tcp::acceptor& acceptor = *listening;
  ErrorCode unbound;
  FeedLimits limits;
  limits.readers = std::clamp<std::size_t>(most / 4, 1, limits.readers);
  const std::shared_ptr<AdminServer> server(new AdminServer{
      worker, page_thread, pages, net::is_loopback(acceptor.local_endpoint(unbound).address()),
      AdminVisits(most), EventFeed(worker.io, page_thread, pages.edition, limits)});
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !acceptor.is_open()) break;
    if (!error) {
      if (find_room(*server)) asio::co_spawn(worker.io, serve_admin(server, std::move(socket)), or_abort);
      continue;
    }
    // Without a free descriptor accept(2) fails even if no connection is waiting. So the loop waits for a new
    // connection before it closes an idle one.
    const bool scarce = net::is_out_of_descriptors(error.value());
    if (scarce) co_await acceptor.async_wait(tcp::acceptor::wait_read, as_result);
    if (scarce && server->visits.make_room()) continue;
    net::Timer pause(worker.io, admin_accept_pause);
    co_await pause.async_wait(as_result);
  }
  server->feed.end();
}

}  // namespace reprise::server
