#include "proxy/tools/top/bar.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::tools {
namespace {

// Returns true if bars can use block characters. In some locales, these are wider than one column.
bool has_blocks(const Charset& charset) {
  return charset.utf8 && (charset.columns == nullptr || charset.columns(U'█') == 1);
}

enum class Cell : std::uint8_t { wait, gap, taken, refused, failed };

Cell cell_of(DrawnResult result) {
  switch (result) {
    case DrawnResult::taken: return Cell::taken;
    case DrawnResult::refused: return Cell::refused;
    case DrawnResult::failed: break;
  }
  return Cell::failed;
}

Piece piece_of(Cell cell, const Charset& charset) {
  switch (cell) {
    case Cell::wait: return {wait_mark(charset), Style::faint};
    case Cell::gap: return {gap_mark(charset), Style::faint};
    case Cell::taken: return {mark_of(DrawnResult::taken, charset), style_of(DrawnResult::taken)};
    case Cell::refused: return {mark_of(DrawnResult::refused, charset), style_of(DrawnResult::refused)};
    case Cell::failed: break;
  }
  return {mark_of(DrawnResult::failed, charset), style_of(DrawnResult::failed)};
}

double length_of(const RequestReading& story) {
  double length = story.took;
  for (const AttemptReading& attempt : story.attempts) length = std::max(length, attempt.at + attempt.took);
  return length;
}

// Returns the column at the fraction `part` of the bar. NaN gives column 0: reprise never reports NaN, but a
// different server at the admin address may.
std::size_t column_at(double part, std::size_t columns) {
  if (!(part > 0)) return 0;
  return static_cast<std::size_t>(std::min(part, 1.0) * static_cast<double>(columns));
}

void paint(std::vector<Cell>& cells, double from, double to, double length, Cell with) {
  if (cells.empty() || length <= 0) return;
  const std::size_t first = std::min(column_at(from / length, cells.size()), cells.size() - 1);
  const std::size_t end = std::max(first + 1, column_at(to / length, cells.size()));
  std::fill(cells.begin() + static_cast<std::ptrdiff_t>(first),
            cells.begin() + static_cast<std::ptrdiff_t>(std::min(end, cells.size())), with);
}

}  // namespace

DrawnResult drawn_result(const RequestReading& story, const AttemptReading& attempt) {
  if (attempt.status == 0) return DrawnResult::failed;
  if (attempt.retried) return DrawnResult::refused;
  const bool failed_call = !attempt.grpc.empty() && attempt.grpc != "ok";
  const bool good = (attempt.status < 400 && !failed_call) || attempt.reason == "not_retryable";
  const bool given = !story.own_response && attempt.status == story.status &&
                     (attempt.grpc.empty() || attempt.grpc == story.grpc);
  return good && given ? DrawnResult::taken : DrawnResult::refused;
}

std::string mark_of(DrawnResult result, const Charset& charset) {
  const bool blocks = has_blocks(charset);
  switch (result) {
    case DrawnResult::taken: return blocks ? "█" : "=";
    case DrawnResult::refused: return blocks ? "▓" : "#";
    case DrawnResult::failed: break;
  }
  return blocks ? "░" : "x";
}

std::string wait_mark(const Charset& charset) { return has_blocks(charset) ? "·" : "."; }
std::string gap_mark(const Charset&) { return "~"; }

Style style_of(DrawnResult result) {
  switch (result) {
    case DrawnResult::taken: return Style::good;
    case DrawnResult::refused: return Style::warning;
    case DrawnResult::failed: break;
  }
  return Style::bad;
}

std::vector<Piece> bar_of(const RequestReading& story, std::size_t columns, const Charset& charset) {
  std::vector<Cell> cells(columns, Cell::wait);
  const double length = length_of(story);
  const auto& attempts = story.attempts;
  const std::size_t gap = story.before_the_gap;
  if (story.left_out > 0 && gap > 0 && gap < attempts.size())
    paint(cells, attempts[gap - 1].at + attempts[gap - 1].took, attempts[gap].at, length, Cell::gap);
  for (const AttemptReading& attempt : attempts)
    paint(cells, attempt.at, attempt.at + attempt.took, length, cell_of(drawn_result(story, attempt)));
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Piece piece = piece_of(cells[i], charset);
    if (i > 0 && cells[i] == cells[i - 1]) {
      pieces.back().text += piece.text;
    } else {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

std::string gauge_of(double share, std::size_t columns) {
  const std::size_t inside = columns > 2 ? columns - 2 : 1;
  const auto full =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(inside)));
  return "[" + std::string(full, '#') + std::string(inside - full, '-') + "]";
}

}  // namespace reprise::tools
