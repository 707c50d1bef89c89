// The admin listener: the status page, /events, /status, /stories, /metrics and the probes. It answers
// questions, changes nothing, and has limits of its own.
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

enum class StoryForm : std::uint8_t { json, text };

/// What the pages are made of. Callables run on the thread that their comment names.
struct AdminPages {
  std::function<bool()> ready;           ///< io thread: listeners up, not draining
  std::function<std::string()> status;   ///< page thread: the /status document
  std::function<std::string()> stories;  ///< page thread: the newest stories, a JSON array
  /// Page thread: one story by its id; absent: it is gone, or never was.
  std::function<std::optional<std::string>(std::string_view id, StoryForm)> story;
  std::function<std::string(telemetry::Exposition)> metrics;  ///< page thread: the text takes milliseconds
  EventFeed::Make edition;                ///< page thread: what is new to the readers of /events
  std::function<std::string()> config{};  ///< page thread: the configuration in force, as YAML
};

/// Serves connections until the acceptor is closed, at most `most` at a time. One more closes the one that
/// has waited longest for a request (row L9), else one whose response does not move. A few places serve
/// /livez and /readyz alone; each connection has at most one request on the page thread. A head has
/// timers.header to come, a connection rests for timers.keep_alive. Anything but GET and HEAD is refused with
/// 405. Other machines may ask for /livez, /readyz and /metrics alone. Against DNS rebinding, the Host must
/// be an address or `localhost`: for those three paths if the acceptor is bound to loopback (421, row L23),
/// for every other path always (403, row H6). A page of another origin gets 403 for everything but the two
/// probes. /events has a quarter as many readers besides, 16 at most: one more gets a 503, one that does not
/// read is let go (row L32).
Task<void> accept_admin(forward::Worker& worker, std::shared_ptr<tcp::acceptor> acceptor,
                        asio::thread_pool& page_thread, const AdminPages& pages, std::size_t most);

}  // namespace reprise::server
