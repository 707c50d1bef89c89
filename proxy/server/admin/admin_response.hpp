// What the admin listener answers to one request.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "proxy/server/admin/admin.hpp"
#include "proxy/server/admin/admin_rules.hpp"

namespace reprise::server {

using PageResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// Who asks, and what of.
struct AdminVisitor {
  bool local;            ///< from this machine
  bool loopback;         ///< the listener is bound to this machine alone
  bool may_have_page;    ///< there is room for one more page
  bool may_read_events;  ///< there is room for one more reader
};

/// True for what begins a stream of events, which is no page:
/// a GET of /events that is neither refused nor one too many.
bool begins_events(const AdminQuery&, const AdminVisitor&);
/// The response to everything else.
Task<PageResponse> respond_to(const AdminQuery&, AdminVisitor, const AdminPages&,
                              asio::thread_pool& page_thread);

}  // namespace reprise::server
