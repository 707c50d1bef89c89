// The first event of an event stream (HTML Living Standard 9.2.6), read as its bytes come.
#pragma once

#include <string>
#include <string_view>

namespace reprise::http {

/// Lines end with CR, LF or CRLF; a byte order mark, comments, and blocks without data are passed over, as a
/// browser would. Holds what it was fed of the event under way: the caller bounds that.
class FirstEvent {
 public:
  /// What follows the first event is ignored.
  void feed(std::string_view bytes);
  bool complete() const { return complete_; }
  /// `message` where the stream does not say; empty until the event is complete.
  std::string_view name() const { return complete_ ? std::string_view(name_) : std::string_view(); }
  /// The data lines, joined by LF.
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
