#include "proxy/cli/terminal/terminal.hpp"

#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <cwchar>

#include "proxy/tools/top/screen.hpp"

namespace reprise::cli {
namespace {

bool set_modes(int descriptor, const termios& modes) {
  while (tcsetattr(descriptor, TCSADRAIN, &modes) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace

bool Terminal::enter() {
  termios modes{};
  if (tcgetattr(in_, &modes) != 0) return false;
  if (!before_) before_ = modes;
  modes = *before_;
  // ISIG stays set. Ctrl-C and Ctrl-Z must send their signals also to processes that wait for this process.
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  modes.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR);
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  if (!set_modes(in_, modes)) return false;
  entered_ = true;
  return write(tools::enter_screen);
}

void Terminal::leave() {
  if (!entered_) return;
  entered_ = false;
  if (is_in_background()) return;
  write(tools::leave_screen);
  set_modes(in_, *before_);
}

bool Terminal::is_in_background() const {
  const pid_t in_front = tcgetpgrp(in_);
  return in_front > 0 && in_front != getpgrp();
}

TerminalSize Terminal::size() const {
  constexpr std::size_t most_columns = 1000, most_rows = 500;
  winsize size{};
  if (ioctl(out_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {std::min<std::size_t>(size.ws_col, most_columns), std::min<std::size_t>(size.ws_row, most_rows)};
}

std::optional<std::string> Terminal::read() {
  // Another program may read from this terminal too, so the pending input may already be gone.
  pollfd ready{in_, POLLIN, 0};
  if (poll(&ready, 1, 0) == 0) return std::string();
  char bytes[256];
  const ssize_t got = ::read(in_, bytes, sizeof bytes);
  if (got > 0) return std::string(bytes, static_cast<std::size_t>(got));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::string();
  return std::nullopt;
}

bool Terminal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(out_, bytes.data(), bytes.size());
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      // If another program has made the terminal non-blocking, waits until a write is possible.
      pollfd ready{out_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

tools::Charset charset_of_locale() {
  tools::Charset charset;
  if (std::setlocale(LC_CTYPE, "") == nullptr) return charset;
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) return charset;
  charset.utf8 = true;
  charset.columns = [](char32_t code) { return wcwidth(static_cast<wchar_t>(code)); };
  return charset;
}

}  // namespace reprise::cli
