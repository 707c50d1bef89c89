#include "proxy/control/control_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "proxy/control/control_path.hpp"

namespace reprise::net {

using Protocol = asio::local::stream_protocol;

namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ControlError("cannot listen at admin.control " + path + ": " + why);
}

// What is there already: nothing, or a socket that nobody listens at any more, which goes.
void make_way(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) refuse(path, text_of(errno));
    return;
  }
  if (!S_ISSOCK(found.st_mode)) refuse(path, "it is there and is no socket; name another path, or remove it");
  const int error = try_control(path);
  if (error == 0) refuse(path, "another process listens there; end it, or name another path");
  if (error != ECONNREFUSED) refuse(path, text_of(error));
  if (::unlink(path.c_str()) != 0)
    refuse(path, "what an ended process has left cannot be removed: " + text_of(errno));
}

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A response that may come from another thread, and somebody who waits for it.
struct Pending {
  explicit Pending(asio::io_context& io) : come(io, asio::steady_timer::time_point::max()) {}
  asio::steady_timer come;
  ControlResponse response;
  bool has_come = false;
};

}  // namespace

struct ControlSocket::Calls {
  explicit Calls(asio::io_context& loop) : io(loop), acceptor(loop) {}
  asio::io_context& io;
  Protocol::acceptor acceptor;
  Commands commands;
  unsigned callers = 0;
};

ControlSocket::ControlSocket(asio::io_context& io, std::string path)
    : path_(std::move(path)), calls_(std::make_shared<Calls>(io)) {
  if (path_.size() >= sizeof(sockaddr_un::sun_path))
    refuse(path_,
           "a path of a socket has at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
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
    refuse(path_, "there is no such folder; make it first");
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

// Where there are too many, or no descriptor is left, the caller is let go, or waits a moment.
Task<void> ControlSocket::accept(std::shared_ptr<Calls> calls) {
  asio::steady_timer pause(calls->io);
  while (calls->acceptor.is_open()) {
    auto [error, socket] = co_await calls->acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted || !calls->acceptor.is_open()) co_return;
    if (error) {
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(as_result);
    } else if (calls->callers < most_callers) {
      asio::co_spawn(calls->io, respond(calls, std::move(socket)), or_abort);
    }
  }
}

Task<void> ControlSocket::respond(std::shared_ptr<Calls> calls, Socket socket) {
  struct Counted {
    explicit Counted(unsigned& callers) : count(callers) { ++count; }
    ~Counted() { --count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    unsigned& count;
  } counted(calls->callers);
  asio::steady_timer limit(calls->io, patience);
  const auto cut = [&socket](const ErrorCode& ended) {
    ErrorCode ignored;
    if (!ended) socket.cancel(ignored);
  };
  limit.async_wait(cut);
  std::string line;
  const auto [error, bytes] =
      co_await asio::async_read_until(socket, asio::dynamic_buffer(line, longest_command), '\n', as_result);
  limit.expires_at(asio::steady_timer::time_point::max());
  if (error && error != asio::error::not_found) co_return;
  const auto pending = std::make_shared<Pending>(calls->io);
  const Respond respond = [pending, &io = calls->io](ControlResponse given) {
    asio::post(io, [pending, given = std::move(given)]() mutable {
      pending->response = std::move(given);
      pending->has_come = true;
      pending->come.cancel();
    });
  };
  if (error) {
    respond({false, "a command is one line of at most " + std::to_string(longest_command) + " bytes"});
  } else {
    calls->commands(split(line.substr(0, bytes)), respond);
  }
  while (!pending->has_come) co_await pending->come.async_wait(as_result);
  const std::string text = (pending->response.succeeded ? "ok\n" : "error\n") + pending->response.text + "\n";
  limit.expires_after(patience);
  limit.async_wait(cut);
  const auto [unsent, sent] = co_await asio::async_write(socket, asio::buffer(text), as_result);
  // A socket of this kind has handed it over then, and its reader finds it even if we are gone.
  if (pending->response.then) pending->response.then();
  // What is still unread would make the kernel throw the response away.
  ErrorCode ignored;
  socket.shutdown(Socket::shutdown_send, ignored);
  line.resize(longest_command);
  for (std::size_t read = 0; !unsent && read < 64 * longest_command;) {
    const auto [gone, count] = co_await socket.async_read_some(asio::buffer(line), as_result);
    if (gone) break;
    read += count;
  }
  limit.cancel();
}

}  // namespace reprise::net
