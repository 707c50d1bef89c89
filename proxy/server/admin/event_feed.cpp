#include "proxy/server/admin/event_feed.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "proxy/server/admin/event_text.hpp"

namespace reprise::server {
namespace {

Task<Edition> made_by(const EventFeed::Make& make, bool whole) { co_return make(whole); }

}  // namespace

EventFeed::Reader::Reader(EventFeed& all, AdminVisit& at)
    : feed(all),
      visit(at),
      place(all.readers_.insert(all.readers_.end(), this)),
      woken(at.socket().get_executor()) {
  woken.expires_at(Instant::max());
}

EventFeed::Reader::~Reader() { feed.readers_.erase(place); }

// Queues an event. Disconnects the reader if more than `unsent` bytes would be pending. If no event is
// pending, queues even a larger event, because the reader is then not too slow.
void EventFeed::Reader::take(std::shared_ptr<const std::string> text) {
  if (left || text->empty()) return;
  if (bytes > 0 && bytes + text->size() > feed.limits_.unsent) return disconnect();
  bytes += text->size();
  unsent.push_back(std::move(text));
  woken.cancel();
}

void EventFeed::Reader::disconnect() {
  left = true;
  ErrorCode ignored;
  visit.socket().close(ignored);
  woken.cancel();
}

EventFeed::EventFeed(asio::io_context& io, asio::thread_pool& page_thread, Make make, FeedLimits limits)
    : page_thread_(page_thread), make_(std::move(make)), limits_(limits), next_(io) {}

// Waits until a reader disconnects: its socket then becomes readable. Unsolicited bytes make the socket
// readable too; they are ignored.
void EventFeed::watch(const std::shared_ptr<Reader>& reader) {
  reader->visit.socket().async_wait(tcp::socket::wait_read, [weak = std::weak_ptr(reader)](ErrorCode error) {
    const auto there = weak.lock();
    if (!there || there->left || error == asio::error::operation_aborted) return;
    ErrorCode ignored;
    if (error || there->visit.socket().available(ignored) == 0) there->disconnect();
  });
}

Task<void> EventFeed::serve(std::shared_ptr<void> owner, AdminVisit& visit, std::string head) {
  ErrorCode error;
  visit.socket().set_option(asio::socket_base::send_buffer_size(static_cast<int>(limits_.kernel_buffer)),
                            error);
  const auto reader = std::make_shared<Reader>(*this, visit);
  reader->take(std::make_shared<const std::string>(std::move(head)));
  watch(reader);
  begin_handing_out(std::move(owner));
  while (!reader->left) {
    if (reader->unsent.empty()) {
      if (ended_) break;
      co_await reader->woken.async_wait(as_result);
      continue;
    }
    const auto text = reader->unsent.front();
    visit.limit(limits_.patience);
    const auto [failed, bytes] = co_await asio::async_write(visit.socket(), asio::buffer(*text), as_result);
    if (failed) co_return;
    reader->unsent.pop_front();
    reader->bytes -= text->size();
    // No time limit applies between two events.
    if (reader->unsent.empty()) visit.lift_limit();
  }
  if (!reader->left) visit.socket().shutdown(tcp::socket::shutdown_send, error);
}

void EventFeed::begin_handing_out(std::shared_ptr<void> owner) {
  if (handing_out_) {
    next_.cancel();
    return;
  }
  handing_out_ = true;
  asio::co_spawn(next_.get_executor(), hand_out(std::move(owner)), or_abort);
}

bool EventFeed::has_new_reader() const {
  return std::any_of(readers_.begin(), readers_.end(), [](const Reader* each) { return !each->begun; });
}

Task<void> EventFeed::hand_out(std::shared_ptr<void> owner) {
  while (!readers_.empty() && !ended_) {
    const Instant last = net::Clock::now();
    give(co_await asio::co_spawn(page_thread_, made_by(make_, has_new_reader()), asio::use_awaitable));
    co_await pause_until_next(last);
  }
  handing_out_ = false;
  owner.reset();
}

// Waits for the time of the next edition. A new reader shortens the wait, but not below `least_period`, so
// that the cost does not grow with the number of new readers.
Task<void> EventFeed::pause_until_next(Instant last) {
  while (!ended_ && !readers_.empty()) {
    const Instant until = last + (has_new_reader() ? limits_.least_period : limits_.period);
    if (net::Clock::now() >= until) co_return;
    next_.expires_at(until);
    co_await next_.async_wait(as_result);
  }
}

// Gives an edition to all readers. A reader that arrived while the edition was made gets the whole state if
// the edition contains it; otherwise that reader waits for the next edition.
void EventFeed::give(Edition edition) {
  const bool has_whole = !edition.whole.empty();
  const auto whole = std::make_shared<const std::string>(std::move(edition.whole));
  const auto changes = std::make_shared<const std::string>(std::move(edition.changes));
  for (Reader* const reader : readers_) {
    if (reader->begun) {
      reader->take(changes);
    } else if (has_whole) {
      reader->begun = true;
      reader->take(whole);
    }
  }
}

void EventFeed::end() {
  if (std::exchange(ended_, true)) return;
  std::string last;
  append_event(last, "end", R"({"reason":"this listener is closed"})");
  const auto text = std::make_shared<const std::string>(std::move(last));
  for (Reader* const reader : readers_) {
    reader->take(text);
    reader->woken.cancel();
  }
  next_.cancel();
}

}  // namespace reprise::server
