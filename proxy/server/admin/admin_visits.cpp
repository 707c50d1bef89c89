#include "proxy/server/admin/admin_visits.hpp"

#include <poll.h>

#include <algorithm>

namespace reprise::server {
namespace {

constexpr Duration page_stall_limit = std::chrono::seconds(1);
constexpr std::size_t most_probe_places = 4;

// Returns how many of `places` connections may get a page at the same time. One connection in sixteen is
// reserved for probes.
std::size_t pages_among(std::size_t places) {
  return places < 2 ? places : places - std::clamp<std::size_t>(places / 16, 1, most_probe_places);
}

bool accepts_bytes(int descriptor) {
  pollfd asked{descriptor, POLLOUT, 0};
  return ::poll(&asked, 1, 0) != 0;
}

}  // namespace

AdminVisit::AdminVisit(AdminVisits& all, net::Tick& tick, tcp::socket socket)
    : all_(all), tick_(tick), socket_(std::move(socket)) {
  ++all_.count_;
  place_ = all_.waiting_.insert(all_.waiting_.end(), this);
}

AdminVisit::~AdminVisit() {
  leave_list();
  if (counted_ && socket_.is_open()) --all_.count_;
}

void AdminVisit::stop_counting() {
  leave_list();
  --all_.count_;
  counted_ = false;
}

void AdminVisit::asked(AdminWork work) {
  leave_list();
  work_ = work;
  if (work_ == AdminWork::page) ++all_.pages_;
}

void AdminVisit::moved() {
  moved_at_ = net::Tick::now();
  if (state_ == State::is_sent) all_.sending_.erase(place_);
  place_ = all_.sending_.insert(all_.sending_.end(), this);
  state_ = State::is_sent;
}

void AdminVisit::responded() {
  leave_list();
  place_ = all_.waiting_.insert(all_.waiting_.end(), this);
  state_ = State::waits;
}

void AdminVisit::leave_list() {
  if (state_ == State::waits) all_.waiting_.erase(place_);
  if (state_ == State::is_sent) all_.sending_.erase(place_);
  if (work_ == AdminWork::page) --all_.pages_;
  work_ = AdminWork::probe;
  state_ = State::is_made;
}

void AdminVisit::time_is_up() {
  ErrorCode ignored;
  socket_.cancel(ignored);
}

// Closes the socket. The coroutine that waits on it then gets an error, and destroys the visit.
void AdminVisit::close() {
  leave_list();
  --all_.count_;
  counted_ = false;
  ErrorCode ignored;
  socket_.close(ignored);
}

// Returns true if the response makes no progress. For a health probe this means that its client does not
// read: the small response fits into the kernel's buffer, unless earlier unread responses fill that buffer.
bool AdminVisit::is_stuck(Instant now) {
  if (work_ == AdminWork::page) return now - moved_at_ >= page_stall_limit;
  return !accepts_bytes(socket_.native_handle());
}

AdminVisits::AdminVisits(std::size_t most) : most_(most), most_pages_(pages_among(most)) {}

AdminVisit* AdminVisits::stuck(bool pages_only) {
  const Instant now = net::Tick::now();
  for (AdminVisit* const visit : sending_) {
    if (pages_only && visit->work_ != AdminWork::page) continue;
    if (visit->is_stuck(now)) return visit;
  }
  return nullptr;
}

// Closes one connection. A connection that has just sent bytes is closed last, because those bytes may be a
// whole request.
bool AdminVisits::make_room() {
  ErrorCode ignored;
  AdminVisit* leaves = nullptr;
  for (AdminVisit* const visit : waiting_) {
    if (visit->socket_.available(ignored) > 0) continue;
    leaves = visit;
    break;
  }
  if (leaves == nullptr) leaves = stuck(false);
  if (leaves == nullptr && !waiting_.empty()) leaves = waiting_.front();
  if (leaves == nullptr) return false;
  leaves->close();
  return true;
}

bool AdminVisits::make_room_for_page() {
  AdminVisit* const leaves = stuck(true);
  if (leaves == nullptr) return false;
  leaves->close();
  return true;
}

}  // namespace reprise::server
