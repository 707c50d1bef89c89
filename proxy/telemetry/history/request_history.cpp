#include "proxy/telemetry/history/request_history.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace reprise::telemetry {
namespace {

constexpr int base = 36;

}  // namespace

ThreadHistory::ThreadHistory(std::size_t bytes, std::uint64_t first, std::uint64_t step)
    : notable_(bytes / 2), ordinary_(bytes / 2), next_(first), step_(step) {}

void ThreadHistory::keep(const ExchangeRecord& record, bool path) {
  const std::lock_guard lock(mutex_);
  (is_notable(record) ? notable_ : ordinary_).keep(record, path);
}

std::optional<HistoryEntry> ThreadHistory::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  auto found = notable_.find(number);
  return found ? found : ordinary_.find(number);
}

std::optional<HistoryEntry> ThreadHistory::find(std::string_view request_id) const {
  const std::lock_guard lock(mutex_);
  auto found = notable_.find(request_id);
  auto other = ordinary_.find(request_id);
  if (!found || (other && other->number > found->number)) return other;
  return found;
}

std::vector<HistoryEntry> ThreadHistory::newest(std::size_t most, std::uint64_t after) const {
  std::vector<HistoryEntry> stories;
  const std::lock_guard lock(mutex_);
  notable_.newest(most, after, [&](HistoryEntry story) { stories.push_back(std::move(story)); });
  return stories;
}

RequestHistory::RequestHistory(std::string name, std::size_t threads, std::size_t bytes)
    : name_(std::move(name)) {
  for (std::size_t i = 0; i < threads; ++i)
    books_.push_back(std::make_unique<ThreadHistory>(bytes, i + 1, threads));
}

void RequestHistory::append_id(std::string& out, std::uint64_t number) const {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
  out.append(name_).append("-").append(digits.data(), end.ptr);
}

std::string RequestHistory::id_of(std::uint64_t number) const {
  std::string id;
  append_id(id, number);
  return id;
}

std::optional<std::uint64_t> RequestHistory::number_of(std::string_view id) const {
  if (id.size() < name_.size() + 2 || !id.starts_with(name_) || id[name_.size()] != '-') return std::nullopt;
  id.remove_prefix(name_.size() + 1);
  std::uint64_t number = 0;
  const auto read = std::from_chars(id.data(), id.data() + id.size(), number, base);
  if (read.ec != std::errc() || read.ptr != id.data() + id.size() || number == 0) return std::nullopt;
  return number;
}

std::optional<HistoryEntry> RequestHistory::find(std::string_view id) const {
  std::optional<HistoryEntry> found;
  if (const auto number = number_of(id)) found = books_[(*number - 1) % books_.size()]->find(*number);
  if (!found && !id.empty()) {
    for (const auto& book : books_) {
      auto other = book->find(id);
      if (other && (!found || other->ended_wall > found->ended_wall)) found = std::move(other);
    }
  }
  if (found) found->id = id_of(found->number);
  return found;
}

std::vector<HistoryEntry> RequestHistory::newest(std::size_t most) const {
  std::vector<HistoryEntry> all;
  for (const auto& book : books_) {
    for (HistoryEntry& story : book->newest(most, 0)) all.push_back(std::move(story));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const HistoryEntry& a, const HistoryEntry& b) { return a.ended_wall < b.ended_wall; });
  if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
  for (HistoryEntry& story : all) story.id = id_of(story.number);
  return all;
}

}  // namespace reprise::telemetry
