// A terminal on which a program draws: its modes, size, input and output. Restores the shell's modes at the
// end.
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

/// Does not own its file descriptors and does not change their flags. Both descriptors may refer to the same
/// open file. Single-threaded.
class Terminal {
 public:
  Terminal(int in, int out) : in_(in), out_(out) {}
  ~Terminal() { leave(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Switches to an alternate screen on which keys arrive one by one without echo. Ctrl-C and Ctrl-Z still
  /// send signals. Call again after the process was stopped, because the shell has changed the modes
  /// meanwhile. Returns false if the input is not a terminal, or if the terminal is gone.
  bool enter();
  /// Restores the terminal to its state before the first `enter`. Does nothing if this process is in the
  /// background, because another process then uses the terminal.
  void leave();

  /// Returns the size of the terminal, or 80 by 24 if the size is unknown.
  TerminalSize size() const;
  /// Returns the bytes of the keys pressed so far, without waiting. Returns nothing if the terminal is gone.
  std::optional<std::string> read();
  /// Writes all bytes. Returns false if the terminal is gone.
  bool write(std::string_view bytes);
  int in() const { return in_; }

 private:
  bool is_in_background() const;

  int in_;
  int out_;
  std::optional<termios> before_;
  bool entered_ = false;
};

/// Returns the character set that the locale variables (LC_ALL, LC_CTYPE, LANG) name. Sets only the LC_CTYPE
/// category of this process's locale.
tools::Charset charset_of_locale();

}  // namespace reprise::cli
