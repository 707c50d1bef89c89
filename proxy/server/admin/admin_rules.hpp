// Whose requests the admin listener answers: what a browser may have been made to send is turned away.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <string_view>

#include "proxy/server/admin/admin_visits.hpp"

namespace reprise::server {

using AdminQuery = boost::beast::http::request<boost::beast::http::empty_body>;

/// The target without its query.
std::string_view path_of(const AdminQuery&);
/// True if Host is an address or `localhost`, with whatever port: a name may have been made to point here
/// (DNS rebinding).
bool has_address_as_host(const AdminQuery&);
/// True if Host is another name than that; false without one, as only a program can send it (row L23).
bool is_rebound(const AdminQuery&);
/// True if a page of another origin asks: it could not read the response, but take a reader's place and the
/// time of the page thread. Judged by Origin (RFC 6454 section 7), and by Sec-Fetch-Site, because a browser
/// sends no Origin for an image, a script or a frame.
bool is_from_elsewhere(const AdminQuery&);
/// True if a person follows a link of another page: the browser shows the response in a window of its own
/// (Fetch Metadata: Sec-Fetch-Mode and Sec-Fetch-Dest).
bool is_followed_link(const AdminQuery&);
/// What the response to this request costs.
AdminWork work_of(const AdminQuery&);

}  // namespace reprise::server
