#include "proxy/cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::cli {
namespace {

// Returns the width of the terminal. A longer progress line would wrap, and a wrapped line cannot be
// overwritten.
std::size_t width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col : 80U;
}

constexpr const char* start_of_an_empty_line = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(bool wanted) : is_shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view text) {
  if (!is_shown_) return;
  std::string line;
  telemetry::append_visible(line, text);
  std::fprintf(stderr, "%s%s", start_of_an_empty_line, line.substr(0, width() - 1).c_str());
  std::fflush(stderr);
  is_there_ = true;
}

void ProgressLine::clear() {
  if (!is_there_) return;
  std::fputs(start_of_an_empty_line, stderr);
  std::fflush(stderr);
  is_there_ = false;
}

void StepProgress::step(std::string_view what) {
  ++at_;
  line_.show(fmt::format("{} of {}: {}", at_, steps_, what));
}

void ShareProgress::update(std::uint64_t work) {
  if (!line_.is_shown()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double share = (static_cast<double>(done_) * each_ + static_cast<double>(work)) / all_;
  line_.show(fmt::format("{}: {:3.0f} %", what_, std::min(share, 1.0) * 100));
}

}  // namespace reprise::cli
