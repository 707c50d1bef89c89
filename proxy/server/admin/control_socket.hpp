// The unix socket at which a running proxy is told what to do.
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

/// The socket cannot be had; `what()` names the path, and says what to do. Exit code 69.
class ControlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a command comes to.
struct ControlResponse {
  bool succeeded = true;
  std::string text;  ///< for people, without a line end; may be several lines
  /// Called on the io thread once the caller has the text, or is gone: what could end the loop before that.
  std::function<void()> then{};
};

/// Mode 0600: only its own user and root may speak to it. Used on one io thread. Each caller has `patience`
/// to send its command, one line of at most `longest_command` bytes. Beyond `most_callers` at a time, the
/// caller that has been silent longest is evicted; one whose command is being carried out is not.
class ControlSocket {
 public:
  static constexpr unsigned most_callers = 16;
  static constexpr std::size_t longest_command = 1024;
  static constexpr std::chrono::seconds patience{5};

  /// To be called once, on any thread.
  using Respond = std::function<void(ControlResponse)>;
  using Commands = std::function<void(const std::vector<std::string>& words, const Respond&)>;

  /// Binds. A socket that nobody listens at any more is replaced; a living one, and what is no socket, is
  /// left alone and a ControlError. Before there are threads: the mask of new files is changed for a moment.
  ControlSocket(asio::io_context&, std::string path);
  /// Removes the file, if it is still this one's.
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// From now on, until this is destroyed.
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
  static void hear(Calls&, const std::shared_ptr<Caller>&);
  static Task<bool> read_line(Calls&, std::shared_ptr<Caller>, std::string& line);
  static Task<ControlResponse> carry_out(Calls&, const std::string& line);
  static Task<void> respond(Calls&, std::shared_ptr<Caller>);

  const std::string path_;
  dev_t device_ = 0;  ///< of the file that was made
  ino_t file_ = 0;
  std::shared_ptr<Calls> calls_;
};

}  // namespace reprise::server
