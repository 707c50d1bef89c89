#include "proxy/cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "proxy/observe/json_text.hpp"

namespace reprise::cli {
namespace {

// Of the terminal; a line that wraps cannot be taken back.
std::size_t width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col : 80U;
}

constexpr const char* start_of_an_empty_line = "\r\033[K";

}  // namespace

Progress::Progress(std::size_t steps) : steps_(steps), is_shown_(steps > 1 && ::isatty(STDERR_FILENO) == 1) {}

void Progress::step(std::string_view what) {
  ++at_;
  if (!is_shown_) return;
  std::string line = std::to_string(at_) + " of " + std::to_string(steps_) + ": ";
  observe::append_visible(line, what);
  std::fprintf(stderr, "%s%s", start_of_an_empty_line, line.substr(0, width() - 1).c_str());
  std::fflush(stderr);
  is_there_ = true;
}

void Progress::clear() {
  if (!is_there_) return;
  std::fputs(start_of_an_empty_line, stderr);
  std::fflush(stderr);
  is_there_ = false;
}

}  // namespace reprise::cli
