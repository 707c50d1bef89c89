#include "proxy/server/admin/admin_response.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/beast/http/verb.hpp>
#include <charconv>
#include <string>

#include "proxy/server/admin/gzip.hpp"
#include "proxy/server/admin/negotiation.hpp"
#include "proxy/server/admin/status_page.hpp"

namespace reprise::server {
namespace {

namespace bhttp = boost::beast::http;

using Query = AdminQuery;
using Page = PageResponse;

Page text_page(const Query& query, bhttp::status status, std::string body) {
  Page page(status, query.version());
  page.set(bhttp::field::content_type, "text/plain; charset=utf-8");
  page.set("X-Content-Type-Options", "nosniff");
  page.body() = std::move(body);
  page.keep_alive(query.keep_alive());
  return page;
}

// Runs on the page thread. `make` and its captures outlive the call, because the caller waits for the result.
template <typename Make>
auto call(const Make& make) -> Task<decltype(make())> {
  co_return make();
}

Page json_page(const Query& query, std::string body) {
  Page page = text_page(query, bhttp::status::ok, std::move(body));
  page.set(bhttp::field::content_type, "application/json");
  return page;
}

constexpr std::string_view histories_path = "/stories";

// Returns true for pages about requests and the configuration. They are served only to this machine and to
// pages of this listener.
bool is_private(std::string_view path) {
  return path == "/" || path == "/status" || path == "/config" || path == "/events" ||
         path.starts_with(histories_path);
}

std::string why_refused(const Query& query, std::string_view path, const AdminVisitor& visitor) {
  if (!visitor.local) return std::string(path) + " is served only to this machine\n";
  if (!has_address_as_host(query)) return "Host must be an address or localhost\n";
  return {};
}

// Returns true if a page of another origin must not get this response. Such a page may only link to the
// status page or to the metrics.
bool is_forbidden_cross_origin(const Query& query, std::string_view path) {
  if (!is_cross_origin(query)) return false;
  return !((path == "/" || path == "/metrics") && is_followed_link(query));
}

Page html_page(const Query& query) {
  Page page = text_page(query, bhttp::status::ok, status_page().text);
  page.set(bhttp::field::content_type, "text/html; charset=utf-8");
  page.set(bhttp::field::cache_control, "no-store");
  page.set("Content-Security-Policy", status_page().policy);
  page.set("Referrer-Policy", "no-referrer");
  page.set("Cross-Origin-Opener-Policy", "same-origin");
  page.set("Cross-Origin-Resource-Policy", "same-origin");
  return page;
}

Page no_more_pages(const Query& query) {
  Page page = text_page(query, bhttp::status::service_unavailable,
                        "limits.admin_connections is reached; /livez and /readyz are still served\n");
  page.set(bhttp::field::retry_after, "1");
  page.keep_alive(false);
  return page;
}

Page no_more_readers(const Query& query) {
  Page page = text_page(query, bhttp::status::service_unavailable,
                        "/events has the maximum number of readers: read /status and /stories instead\n");
  page.set(bhttp::field::retry_after, "5");
  return page;
}

// Decodes the percent-encoding of one path segment (RFC 3986 2.1). Invalid escapes stay unchanged.
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

Task<Page> history_page(const Query& query, std::string_view escaped_id, const AdminPages& pages,
                        asio::thread_pool& page_thread) {
  const std::string_view target(query.target().data(), query.target().size());
  const HistoryForm form = target.ends_with("?format=text") ? HistoryForm::text : HistoryForm::json;
  const std::string id = unescaped(escaped_id);
  const auto make = [&] { return pages.history(id, form); };
  auto history_text = co_await asio::co_spawn(page_thread, call(make), asio::use_awaitable);
  if (!history_text)
    co_return text_page(query, bhttp::status::not_found,
                        "no such request: the id is unknown, or newer requests have replaced it "
                        "(limits.stories)\n");
  co_return form == HistoryForm::text ? text_page(query, bhttp::status::ok, std::move(*history_text))
                                      : json_page(query, std::move(*history_text));
}

// Returns all fields of that name as one list (RFC 9110 5.2).
std::string all_values(const Query& query, bhttp::field name) {
  std::string all;
  const auto [begin, end] = query.equal_range(name);
  for (auto field = begin; field != end; ++field) {
    const auto value = field->value();
    all.append(all.empty() ? "" : ",").append(value.data(), value.size());
  }
  return all;
}

// Returns the response to a HEAD of /events; a GET gets a stream instead.
Page events_head(const Query& query) {
  Page page = text_page(query, bhttp::status::ok, {});
  page.set(bhttp::field::content_type, "text/event-stream");
  page.set(bhttp::field::cache_control, "no-store");
  return page;
}

Task<Page> private_page(const Query& query, std::string_view path, const AdminVisitor& visitor,
                        const AdminPages& pages, asio::thread_pool& page_thread) {
  if (std::string why = why_refused(query, path, visitor); !why.empty())
    co_return text_page(query, bhttp::status::forbidden, std::move(why));
  if (path == "/") co_return html_page(query);
  if (path == "/events" && (!visitor.may_read_events || query.method() == bhttp::verb::get))
    co_return no_more_readers(query);
  if (path == "/events") co_return events_head(query);
  if (path == "/config" && pages.config)
    co_return text_page(query, bhttp::status::ok,
                        co_await asio::co_spawn(page_thread, call(pages.config), asio::use_awaitable));
  if (path == "/status" || path == histories_path) {
    const auto& make = path == "/status" ? pages.status : pages.histories;
    co_return json_page(query, co_await asio::co_spawn(page_thread, call(make), asio::use_awaitable));
  }
  if (path.size() > histories_path.size() + 1 && path[histories_path.size()] == '/')
    co_return co_await history_page(query, path.substr(histories_path.size() + 1), pages, page_thread);
  co_return text_page(query, bhttp::status::not_found,
                      "not found: the history of a request is at /stories/ID\n");
}

Task<Page> metrics_page(const Query& query, const AdminPages& pages, asio::thread_pool& page_thread) {
  const telemetry::Exposition form = exposition_for(all_values(query, bhttp::field::accept));
  const bool compressed = takes_gzip(all_values(query, bhttp::field::accept_encoding));
  const auto make = [&] { return compressed ? gzip(pages.metrics(form)) : pages.metrics(form); };
  Page page = text_page(query, bhttp::status::ok,
                        co_await asio::co_spawn(page_thread, call(make), asio::use_awaitable));
  page.set(bhttp::field::content_type, form == telemetry::Exposition::open_metrics
                                           ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                           : "text/plain; version=0.0.4; charset=utf-8");
  page.set(bhttp::field::vary, "Accept, Accept-Encoding");
  if (compressed) page.set(bhttp::field::content_encoding, "gzip");
  co_return page;
}

}  // namespace

bool begins_events(const AdminQuery& query, const AdminVisitor& visitor) {
  const std::string_view path = path_of(query);
  return query.method() == bhttp::verb::get && path == "/events" && visitor.may_have_page &&
         visitor.may_read_events && !is_forbidden_cross_origin(query, path) &&
         why_refused(query, path, visitor).empty();
}

Task<PageResponse> respond_to(const AdminQuery& query, AdminVisitor visitor, const AdminPages& pages,
                              asio::thread_pool& page_thread) {
  if (query.method() != bhttp::verb::get && query.method() != bhttp::verb::head) {
    Page page = text_page(query, bhttp::status::method_not_allowed, "only GET and HEAD are supported\n");
    page.set(bhttp::field::allow, "GET, HEAD");
    co_return page;
  }
  const std::string_view path = path_of(query);
  if (!visitor.may_have_page) co_return no_more_pages(query);
  const bool known = path == "/livez" || path == "/readyz" || path == "/metrics";
  if ((is_private(path) || path == "/metrics") && is_forbidden_cross_origin(query, path))
    co_return text_page(query, bhttp::status::forbidden,
                        "cross-origin request rejected: only pages of this listener may load this\n");
  if (is_private(path)) co_return co_await private_page(query, path, visitor, pages, page_thread);
  if (known && visitor.loopback && is_rebound(query))
    co_return text_page(query, bhttp::status::misdirected_request, "Host must be an address or localhost\n");
  if (path == "/livez") co_return text_page(query, bhttp::status::ok, "alive\n");
  if (path == "/readyz") {
    const bool ready = pages.ready();
    co_return text_page(query, ready ? bhttp::status::ok : bhttp::status::service_unavailable,
                        ready ? "ready\n" : "draining\n");
  }
  if (path == "/metrics") {
    co_return co_await metrics_page(query, pages, page_thread);
  }
  co_return text_page(
      query, bhttp::status::not_found,
      "reprise admin: /livez /readyz /metrics /status /config /stories /events, and the status page at /\n");
}

}  // namespace reprise::server
