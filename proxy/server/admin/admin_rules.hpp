// Decides which requests the admin listener serves. It rejects requests that another website made a browser
// send.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <string_view>

#include "proxy/server/admin/admin_visits.hpp"

namespace reprise::server {

using AdminQuery = boost::beast::http::request<boost::beast::http::empty_body>;

/// Returns the target without its query.
std::string_view path_of(const AdminQuery&);
/// Returns true if Host is an address or `localhost`, with any port. Any other name may resolve to this
/// machine by DNS rebinding.
bool has_address_as_host(const AdminQuery&);
/// Returns true if Host is a name other than `localhost`. Returns false without a Host, because no browser
/// omits it (row L23).
bool is_rebound(const AdminQuery&);
/// Returns true if a page of another origin sends the request. That page could not read the response, but
/// could occupy one of the connections for readers of /events, and the thread that makes the pages. Uses
/// Origin (RFC 6454 section 7), and also Sec-Fetch-Site, because browsers send no Origin for images, scripts
/// and frames.
bool is_cross_origin(const AdminQuery&);
/// Returns true if a person follows a link on another page, so that the browser shows the response as a page
/// (Fetch Metadata: Sec-Fetch-Mode and Sec-Fetch-Dest).
bool is_followed_link(const AdminQuery&);
/// Returns the cost class of a request.
AdminWork work_of(const AdminQuery&);

}  // namespace reprise::server
