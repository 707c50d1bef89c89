// The responses of the admin listener.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "proxy/server/admin/admin.hpp"
#include "proxy/server/admin/admin_rules.hpp"

namespace reprise::server {

using PageResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// Facts about the sender of a request, and about the room that is left for its response.
struct AdminVisitor {
  bool local;            ///< from this machine
  bool loopback;         ///< the listener is bound to loopback only
  bool may_have_page;    ///< there is room for another page
  bool may_read_events;  ///< there is room for another reader of /events
};

/// Returns true if the request starts an event stream: a GET of /events that is allowed and has room.
bool begins_events(const AdminQuery&, const AdminVisitor&);
/// Returns the response to a request that does not start an event stream.
Task<PageResponse> respond_to(const AdminQuery&, AdminVisitor, const AdminPages&,
                              asio::thread_pool& page_thread);

}  // namespace reprise::server
