#include "proxy/cli/exec/child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace reprise::cli {
namespace {

constexpr std::array forwarded{SIGTERM, SIGINT,   SIGHUP,  SIGQUIT, SIGUSR1,
                               SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {ends[0], ends[1]};
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

// Returns the variables as `NAME=value` texts, each followed by a zero byte.
std::string packed(const tools::Variables& variables) {
  std::string text;
  for (const auto& [name, value] : variables) text.append(name).append("=").append(value).append(1, '\0');
  return text;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  std::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD were ignored, the kernel would not report the child's end
  sigemptyset(&waited_);
  for (const int signal : forwarded) sigaddset(&waited_, signal);
  sigaddset(&waited_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &waited_, &before_);
  const Pipe down = make_pipe();
  const Pipe up = make_pipe();
  child_ = ::fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child_ == 0) {
    ::close(down.write);
    ::close(up.read);
    become(words, down.read, up.write);
  }
  ::close(down.read);
  ::close(up.write);
  to_child_ = down.write;
  from_child_ = up.read;
}

ChildProcess::~ChildProcess() {
  if (to_child_ >= 0) ::close(to_child_);  // ends a child that waits for `start`
  if (from_child_ >= 0) ::close(from_child_);
}

void ChildProcess::become(const std::vector<std::string>& words, int from_parent, int to_parent) const {
  const std::string environment = read_all(from_parent);
  if (environment.empty()) ::_exit(EXIT_FAILURE);
  for (std::string_view rest = environment; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    const std::size_t equal = entry.find('=');
    ::setenv(std::string(entry.substr(0, equal)).c_str(), std::string(entry.substr(equal + 1)).c_str(), 1);
    rest.remove_prefix(entry.size() + 1);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): exec(3) requires this type, and changes nothing.
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int why = errno;
  write_all(to_parent, {reinterpret_cast<const char*>(&why), sizeof why});
  ::_exit(EXIT_FAILURE);
}

int ChildProcess::start(const tools::Variables& variables) {
  write_all(to_child_, packed(variables));
  ::close(to_child_);
  to_child_ = -1;
  // A successful exec closes the child's end of the pipe. In that case, the text that is read here is empty.
  const std::string failure_text = read_all(from_child_);
  if (failure_text.empty()) return 0;
  int why = 0;
  failure_text.copy(reinterpret_cast<char*>(&why), sizeof why);
  ::waitpid(child_, nullptr, 0);
  return why;
}

// Forwards a signal to the child, unless the signal came from the terminal. The kernel sends a terminal
// signal to the whole process group, and so also to the child.
void ChildProcess::pass_on(const siginfo_t& signal) const {
  if (signal.si_code != SI_KERNEL) ::kill(child_, signal.si_signo);
}

int ChildProcess::wait() {
  for (;;) {
    siginfo_t signal{};
    if (::sigwaitinfo(&waited_, &signal) < 0) continue;
    if (signal.si_signo != SIGCHLD) {
      pass_on(signal);
      continue;
    }
    int status = 0;
    // As process 1 of a container, this process inherits every orphan and must reap it (row N14).
    const pid_t awaited = ::getpid() == 1 ? -1 : child_;
    for (pid_t ended = 0; (ended = ::waitpid(awaited, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (ended != child_) continue;
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
      // If the child is stopped, this process stops too. When the shell continues the job, both continue.
      if (WIFSTOPPED(status)) ::raise(SIGSTOP);
    }
  }
}

}  // namespace reprise::cli
