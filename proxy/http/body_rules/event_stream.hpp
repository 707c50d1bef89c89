// Reads the first event of an event stream (HTML Living Standard 9.2.6) as its bytes arrive.
#pragma once

#include <string>
#include <string_view>

namespace reprise::http {

/// Parser of one event stream. Lines end with CR, LF or CRLF. Skips a byte order mark, comments, and blocks
/// without data, as browsers do. Holds the received bytes of the current event; the caller must limit them.
class FirstEvent {
 public:
  /// Reads more bytes. Ignores bytes after the first event.
  void feed(std::string_view bytes);
  bool complete() const { return complete_; }
  /// Returns the name of the event: `message` if the stream does not name it. Empty until the event is
  /// complete.
  std::string_view name() const { return complete_ ? std::string_view(name_) : std::string_view(); }
  /// Returns the data of the event: the data lines, joined by LF.
  std::string_view data() const { return data_; }

 private:
  void end_line();
  void take_field(std::string_view name, std::string_view value);
  void dispatch();

  std::string line_;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool first_line_ = true;
  bool after_cr_ = false;
  bool complete_ = false;
};

}  // namespace reprise::http
