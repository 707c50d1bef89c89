#include "proxy/admin/admin_visits.hpp"

namespace reprise::net {

AdminVisit::AdminVisit(AdminVisits& all, Tick& tick, tcp::socket socket)
    : all_(all), tick_(tick), socket_(std::move(socket)) {
  ++all_.count_;
  place_ = all_.waiting_.insert(all_.waiting_.end(), this);
}

AdminVisit::~AdminVisit() {
  if (waits_) all_.waiting_.erase(place_);
  if (counted_ && socket_.is_open()) --all_.count_;
}

void AdminVisit::stop_counting() {
  --all_.count_;
  counted_ = false;
}

void AdminVisit::asked() {
  all_.waiting_.erase(place_);
  waits_ = false;
}

void AdminVisit::answered() {
  place_ = all_.waiting_.insert(all_.waiting_.end(), this);
  waits_ = true;
}

void AdminVisit::time_is_up() {
  ErrorCode ignored;
  socket_.cancel(ignored);
}

// Whoever has just sent something goes last: it may be a whole request.
bool AdminVisits::make_room() {
  ErrorCode ignored;
  AdminVisit* eldest = nullptr;
  for (AdminVisit* const visit : waiting_) {
    if (!visit->socket_.is_open()) continue;
    const bool silent = visit->socket_.available(ignored) == 0;
    if (silent || eldest == nullptr) eldest = visit;
    if (silent) break;
  }
  if (eldest == nullptr) return false;
  eldest->socket_.close(ignored);
  --count_;
  return true;
}

}  // namespace reprise::net
