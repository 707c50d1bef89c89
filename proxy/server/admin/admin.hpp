// The admin listener: the status page, /events, /status, /stories, /metrics and the probes. It is read-only
// and has its own limits.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/forward/worker/worker.hpp"
#include "proxy/server/admin/event_feed.hpp"

namespace reprise::server {

enum class HistoryForm : std::uint8_t { json, text };

/// The contents of the pages of the admin listener. Each function runs on the thread that its comment names.
struct AdminPages {
  std::function<bool()> ready;  ///< io thread: true if the listeners are open and the proxy is not draining
  std::function<std::string()> status;     ///< page thread: the /status document
  std::function<std::string()> histories;  ///< page thread: the newest request histories, a JSON array
  /// Page thread: the history of the request with this id; none if the id is unknown or the history was
  /// evicted.
  std::function<std::optional<std::string>(std::string_view id, HistoryForm)> history;
  /// Page thread: the metrics as text. A call takes several milliseconds.
  std::function<std::string(telemetry::Exposition)> metrics;
  EventFeed::Make edition;                ///< page thread: new events for the readers of /events
  std::function<std::string()> config{};  ///< page thread: the current configuration as YAML
};

/// Serves connections until the acceptor is closed.
/// - At most `most` connections are open at a time. A further connection closes the one that has waited
///   longest for a request (row L9), or else one whose response does not progress. A few connections are
///   reserved for /livez and /readyz.
/// - Each connection has at most one request on the page thread.
/// - A head must arrive within timers.header; an idle connection is closed after timers.keep_alive.
/// - Methods other than GET and HEAD get 405.
/// - Other machines may request only /livez, /readyz and /metrics.
/// - Against DNS rebinding, the Host must be an address or `localhost`. Any other Host gets 421 for /livez,
///   /readyz and /metrics, but only if the acceptor is bound to loopback (row L23). For all other paths it
///   gets 403 (row H6).
/// - A request from a page of another origin gets 403, except for /livez and /readyz.
/// - The readers of /events have a limit of their own: a quarter of `most`, at most 16. A further reader gets
///   503. A reader that does not read is closed (row L32).
Task<void> accept_admin(forward::Worker& worker, std::shared_ptr<tcp::acceptor> acceptor,
                        asio::thread_pool& page_thread, const AdminPages& pages, std::size_t most);

}  // namespace reprise::server
