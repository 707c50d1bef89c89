#include "proxy/net/io/tick.hpp"

#include <algorithm>

namespace reprise::net {

struct Timed::List {
  Duration duration{};
  Timed* first = nullptr;
  Timed* last = nullptr;

  void append(Timed& entry) {
    entry.list_ = this;
    entry.previous_ = last;
    entry.next_ = nullptr;
    (last != nullptr ? last->next_ : first) = &entry;
    last = &entry;
  }

  void remove(Timed& entry) {
    (entry.previous_ != nullptr ? entry.previous_->next_ : first) = entry.next_;
    (entry.next_ != nullptr ? entry.next_->previous_ : last) = entry.previous_;
    entry.list_ = nullptr;
  }
};

Timed::~Timed() { Tick::disarm(*this); }

Tick::Tick(boost::asio::io_context& io) : timer_(io), odd_(std::make_unique<Timed::List>()) {}

// Removes all entries from the lists. At the end of the process entries may outlive the tick, and must not
// access its lists then.
Tick::~Tick() {
  lists_.push_back(std::move(odd_));
  for (const auto& list : lists_) {
    while (list->first != nullptr) list->remove(*list->first);
  }
}

Timed::List& Tick::list_for(Duration duration) {
  for (const auto& list : lists_) {
    if (list->duration == duration) return *list;
  }
  if (lists_.size() == most_lists) return *odd_;
  lists_.push_back(std::make_unique<Timed::List>());
  lists_.back()->duration = duration;
  return *lists_.back();
}

void Tick::arm(Timed& entry, Duration after) {
  if (after == policy::no_limit) return disarm(entry);
  enter(list_for(after), entry, now() + after);
}

void Tick::arm_until(Timed& entry, Instant due) {
  if (due == policy::no_end) return disarm(entry);
  enter(*odd_, entry, due);
}

void Tick::enter(Timed::List& list, Timed& entry, Instant due) {
  disarm(entry);
  entry.due_ = due;
  list.append(entry);
  wake_by(due);
}

void Tick::disarm(Timed& entry) {
  if (entry.list_ != nullptr) entry.list_->remove(entry);
}

void Tick::wake_by(Instant due) {
  if (stopped_ || due + granule >= wake_) return;
  // Sets the timer to at least one `granule` from now. Never sets it to a later time than before.
  const Instant at = std::max(due, now() + granule);
  if (at < wake_) sleep_until(at);
}

void Tick::sleep_until(Instant at) {
  wake_ = at;
  timer_.expires_at(at);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) walk();
  });
}

void Tick::walk() {
  const Instant at = now();
  wake_ = Instant::max();
  // Iterates by index, because a callback may add a list.
  for (std::size_t i = 0; i < lists_.size(); ++i) fire(*lists_[i], at);
  fire(*odd_, at);
  if (lists_.size() == most_lists) drop_empty_lists();
  Instant next = Instant::max();
  for (const auto& list : lists_) {
    if (list->first != nullptr) next = std::min(next, list->first->due_);
  }
  for (const Timed* entry = odd_->first; entry != nullptr; entry = entry->next_)
    next = std::min(next, entry->due_);
  if (next == Instant::max() || stopped_) return;
  const Instant at_least = at + granule;
  if (std::max(next, at_least) < wake_) sleep_until(std::max(next, at_least));
}

void Tick::drop_empty_lists() {
  std::erase_if(lists_, [](const auto& list) { return list->first == nullptr; });
}

// Fires all due entries of a list. First moves them to a separate list, because a callback may disarm or
// destroy another entry.
void Tick::fire(Timed::List& list, Instant at) {
  Timed::List due;
  const bool ordered = &list != odd_.get();
  for (Timed* entry = list.first; entry != nullptr;) {
    Timed* following = entry->next_;
    if (entry->due_ <= at) {
      list.remove(*entry);
      due.append(*entry);
    } else if (ordered) {
      break;
    }
    entry = following;
  }
  while (due.first != nullptr) {
    Timed& entry = *due.first;
    due.remove(entry);
    entry.time_is_up();
  }
}

void Tick::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace reprise::net
