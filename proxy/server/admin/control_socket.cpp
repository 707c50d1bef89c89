#include "proxy/server/admin/control_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <list>
#include <sstream>
#include <system_error>
#include <tuple>

#include "proxy/server/admin/control_path.hpp"

namespace reprise::server {

using Protocol = asio::local::stream_protocol;

namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ControlError("cannot listen at admin.control " + path + ": " + why);
}

// Removes a socket file on which no process listens any more. Fails for any other existing file.
void make_way(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) refuse(path, text_of(errno));
    return;
  }
  if (!S_ISSOCK(found.st_mode))
    refuse(path, "the file exists and is not a socket; remove it or choose another path");
  const int error = try_control(path);
  if (error == 0) refuse(path, "another process listens there; stop it or choose another path");
  if (error != ECONNREFUSED) refuse(path, text_of(error));
  if (::unlink(path.c_str()) != 0) refuse(path, "the stale socket file cannot be removed: " + text_of(errno));
}

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A command's response, which may come from another thread. The coroutine that waits for it sleeps on a
/// timer.
struct Pending {
  explicit Pending(asio::io_context& io) : arrival(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer arrival;
  ControlResponse response;
  bool has_arrived = false;
};

}  // namespace

/// One connection. Shared by its coroutine and the handler of its timer, because a timer that has fired may
/// run its handler after the coroutine has ended.
struct ControlSocket::Caller {
  Caller(asio::io_context& io, Socket connected) : socket(std::move(connected)), timer(io) {}

  Socket socket;
  asio::steady_timer timer;
  /// True while the proxy waits for the caller to send or to read. False while the caller waits for a
  /// response.
  bool is_awaited = true;
};

struct ControlSocket::Calls {
  explicit Calls(asio::io_context& loop) : io(loop), acceptor(loop) {}
  asio::io_context& io;
  Protocol::acceptor acceptor;
  Commands commands;
  std::list<std::shared_ptr<Caller>> callers;  ///< sorted: the caller that has been idle longest is first
};

ControlSocket::ControlSocket(asio::io_context& io, std::string path)
    : path_(std::move(path)), calls_(std::make_shared<Calls>(io)) {
  if (path_.size() >= sizeof(sockaddr_un::sun_path))
    refuse(path_, "the path is too long: a socket path has at most " +
                      std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  make_way(path_);
  ErrorCode error;
  calls_->acceptor.open(Protocol(), error);
  const mode_t mask = ::umask(0177);
  if (!error) calls_->acceptor.bind(Protocol::endpoint(path_), error);
  ::umask(mask);
  struct stat made {};
  if (!error && ::lstat(path_.c_str(), &made) == 0) {
    device_ = made.st_dev;
    file_ = made.st_ino;
  }
  if (!error) calls_->acceptor.listen(most_callers, error);
  if (!error) calls_->acceptor.non_blocking(true, error);
  if (error == boost::system::errc::no_such_file_or_directory)
    refuse(path_, "the folder does not exist; create it first");
  if (error) refuse(path_, error.message());
}

ControlSocket::~ControlSocket() {
  ErrorCode ignored;
  calls_->acceptor.close(ignored);
  struct stat found {};
  const bool ours =
      file_ != 0 && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == file_;
  if (ours) ::unlink(path_.c_str());
}

void ControlSocket::serve(Commands commands) {
  calls_->commands = std::move(commands);
  asio::co_spawn(calls_->io, accept(calls_), or_abort);
}

// Accepts callers until the socket is closed. Pauses for 100 ms after an error, for example if no descriptor
// is free.
Task<void> ControlSocket::accept(std::shared_ptr<Calls> calls) {
  asio::steady_timer pause(calls->io);
  while (calls->acceptor.is_open()) {
    auto [error, socket] = co_await calls->acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !calls->acceptor.is_open()) co_return;
    if (error) {
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(as_result);
    } else if (calls->callers.size() < most_callers || make_room(*calls)) {
      const auto caller = std::make_shared<Caller>(calls->io, std::move(socket));
      calls->callers.push_back(caller);
      asio::co_spawn(calls->io, serve_caller(calls, caller), or_abort);
    } else {
      refuse_caller(socket);
    }
  }
}

// Evicts the caller that has been idle longest. A caller with unread bytes is evicted only if no other caller
// is idle. Returns false if every caller waits for a response.
bool ControlSocket::make_room(Calls& calls) {
  ErrorCode ignored;
  auto evicted = calls.callers.end();
  for (auto each = calls.callers.begin(); each != calls.callers.end(); ++each) {
    if (!(*each)->is_awaited) continue;
    const bool is_idle = (*each)->socket.available(ignored) == 0;
    if (is_idle || evicted == calls.callers.end()) evicted = each;
    if (is_idle) break;
  }
  if (evicted == calls.callers.end()) return false;
  (*evicted)->socket.close(ignored);
  calls.callers.erase(evicted);
  return true;
}

void ControlSocket::refuse_caller(Socket& socket) {
  static const std::string text =
      "error\n" + std::to_string(most_callers) + " commands are already running: try again later\n";
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
}

Task<void> ControlSocket::serve_caller(std::shared_ptr<Calls> calls, std::shared_ptr<Caller> caller) {
  co_await respond(*calls, caller);
  caller->timer.cancel();
  calls->callers.remove(caller);
}

// Restarts the time limit of a caller. A timer that fired for an earlier limit is ignored.
void ControlSocket::limit(const std::shared_ptr<Caller>& caller) {
  caller->timer.expires_after(patience);
  caller->timer.async_wait([weak = std::weak_ptr(caller)](const ErrorCode& ended) {
    const auto still = weak.lock();
    if (ended || still == nullptr || still->timer.expiry() > asio::steady_timer::clock_type::now()) return;
    ErrorCode ignored;
    still->socket.cancel(ignored);
  });
}

// Moves the caller to the end of the list, because this caller was active last.
void ControlSocket::mark_active(Calls& calls, const std::shared_ptr<Caller>& caller) {
  const auto place = std::find(calls.callers.begin(), calls.callers.end(), caller);
  if (place != calls.callers.end()) calls.callers.splice(calls.callers.end(), calls.callers, place);
}

// Reads until `line` holds a line end. Returns false if the caller has gone or was too slow. Bytes stay in
// the kernel until this coroutine runs, so that `make_room` detects them.
Task<bool> ControlSocket::read_line(Calls& calls, std::shared_ptr<Caller> caller, std::string& line) {
  std::array<char, longest_command> piece{};
  ErrorCode error;
  caller->socket.non_blocking(true, error);
  limit(caller);
  while (line.find('\n') == std::string::npos && line.size() < longest_command) {
    std::tie(error) = co_await caller->socket.async_wait(Socket::wait_read, as_result);
    if (error) co_return false;
    const std::size_t bytes =
        caller->socket.read_some(asio::buffer(piece.data(), longest_command - line.size()), error);
    if (error && error != asio::error::would_block) co_return false;
    line.append(piece.data(), bytes);
    mark_active(calls, caller);
  }
  caller->timer.expires_at(asio::steady_timer::time_point::max());
  co_return true;
}

// Runs the command and returns its response, which may come from another thread.
Task<ControlResponse> ControlSocket::run_command(Calls& calls, const std::string& line) {
  // This coroutine alone owns it: another thread may release its copy of `respond` when the io_context, which
  // the timer needs, is gone.
  const auto pending = std::make_shared<Pending>(calls.io);
  const Respond respond = [weak = std::weak_ptr(pending), &io = calls.io](ControlResponse given) {
    asio::post(io, [weak, given = std::move(given)]() mutable {
      const auto waiting = weak.lock();
      if (waiting == nullptr) return;
      waiting->response = std::move(given);
      waiting->has_arrived = true;
      waiting->arrival.cancel();
    });
  };
  if (const std::size_t end = line.find('\n'); end != std::string::npos) {
    calls.commands(split(line.substr(0, end)), respond);
  } else {
    respond({false, "a command is one line of at most " + std::to_string(longest_command) + " bytes"});
  }
  while (!pending->has_arrived) co_await pending->arrival.async_wait(as_result);
  co_return std::move(pending->response);
}

Task<void> ControlSocket::respond(Calls& calls, std::shared_ptr<Caller> caller) {
  Socket& socket = caller->socket;
  std::string line;
  if (!co_await read_line(calls, caller, line)) co_return;
  caller->is_awaited = false;
  const ControlResponse response = co_await run_command(calls, line);
  caller->is_awaited = true;
  mark_active(calls, caller);
  const std::string text = (response.succeeded ? "ok\n" : "error\n") + response.text + "\n";
  limit(caller);
  const auto [unsent, sent] = co_await asio::async_write(socket, asio::buffer(text), as_result);
  // The caller gets the sent bytes even if `then` ends this process, because a unix socket keeps them.
  if (response.then) response.then();
  // Reads the rest of the input, because the kernel would discard the response if unread bytes remained at
  // the close.
  ErrorCode ignored;
  socket.shutdown(Socket::shutdown_send, ignored);
  line.resize(longest_command);
  for (std::size_t read = 0; !unsent && read < 64 * longest_command;) {
    const auto [gone, count] = co_await socket.async_read_some(asio::buffer(line), as_result);
    if (gone) break;
    read += count;
  }
}

}  // namespace reprise::server
