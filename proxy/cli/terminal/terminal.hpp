// A terminal that a program draws on: its modes, its size, its bytes; and the shell's again at the end.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/top/text.hpp"

namespace reprise::cli {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Borrows its descriptors, which may be of one open file, and leaves their flags alone. One thread.
class Terminal {
 public:
  Terminal(int in, int out) : in_(in), out_(out) {}
  ~Terminal() { leave(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Keys come one by one and unseen, signals are the terminal's as before; the screen is another
  /// than the shell's. May be called again: after a stop the shell has set modes of its own.
  /// False: it is no terminal, or is gone.
  bool enter();
  /// Everything as it was before the first `enter`. Not where this process is in the background: then it is
  /// somebody else's.
  void leave();

  /// Where the terminal does not know: 80 by 24.
  TerminalSize size() const;
  /// What has been pressed, without waiting. Absent: the terminal is gone.
  std::optional<std::string> read();
  /// All of it. False: the terminal is gone.
  bool write(std::string_view bytes);
  int in() const { return in_; }

 private:
  bool is_elsewhere() const;

  int in_;
  int out_;
  std::optional<termios> before_;
  bool entered_ = false;
};

/// What the locale of the environment (LC_ALL, LC_CTYPE, LANG) says of the terminal. Sets this process's
/// LC_CTYPE, and nothing else of its locale.
tools::Charset charset_of_locale();

}  // namespace reprise::cli
