// The unix socket through which a running proxy gets commands.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/net/io/task.hpp"

namespace reprise::server {

/// The socket cannot be opened. `what()` names the path and says what to do. Exit code 69.
class ControlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Result of a command.
struct ControlResponse {
  bool succeeded = true;
  std::string text;  ///< text for people, possibly several lines, without a final line end
  /// Called on the io thread after the caller has received the text or has gone. Used by commands that end
  /// the event loop.
  std::function<void()> then{};
};

/// Mode 0600: only the process's user and root may use it. Used on one io thread. Each caller has `patience`
/// to send its command, one line of at most `longest_command` bytes. Beyond `most_callers` at a time, the
/// caller that has been idle longest is evicted; a caller whose command is running is not evicted.
class ControlSocket {
 public:
  static constexpr unsigned most_callers = 16;
  static constexpr std::size_t longest_command = 1024;
  static constexpr std::chrono::seconds patience{5};

  /// Sends the response to one command. Must be called exactly once, on any thread.
  using Respond = std::function<void(ControlResponse)>;
  using Commands = std::function<void(const std::vector<std::string>& words, const Respond&)>;

  /// Binds the socket. Replaces a socket file on which no process listens. Throws ControlError for any other
  /// existing file. Call before threads start, because the constructor changes the umask for a moment.
  ControlSocket(asio::io_context&, std::string path);
  /// Removes the socket file if it is still the one that this object made.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Serves commands until this object is destroyed.
  void serve(Commands);

 private:
  using Socket = asio::local::stream_protocol::socket;
  struct Caller;
  struct Calls;
  static Task<void> accept(std::shared_ptr<Calls>);
  static bool make_room(Calls&);
  static void refuse_caller(Socket&);
  static Task<void> serve_caller(std::shared_ptr<Calls>, std::shared_ptr<Caller>);
  static void limit(const std::shared_ptr<Caller>&);
  static void mark_active(Calls&, const std::shared_ptr<Caller>&);
  static Task<bool> read_line(Calls&, std::shared_ptr<Caller>, std::string& line);
  static Task<ControlResponse> run_command(Calls&, const std::string& line);
  static Task<void> respond(Calls&, std::shared_ptr<Caller>);

  const std::string path_;
  dev_t device_ = 0;  ///< identity of the socket file
  ino_t file_ = 0;
  std::shared_ptr<Calls> calls_;
};

}  // namespace reprise::server
