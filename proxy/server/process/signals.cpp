#include "proxy/server/process/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace reprise::server {
namespace {

constexpr std::array ending{SIGTERM, SIGINT, SIGQUIT};
constexpr std::array others{SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t read_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : ending) sigaddset(&set, signal);
  for (const int signal : others) sigaddset(&set, signal);
  return set;
}

int open_signalfd() {
  const sigset_t set = read_signals();
  const int descriptor = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return descriptor;
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGUSR1: return "SIGUSR1";
    case SIGUSR2: return "SIGUSR2";
    default: return "SIGWINCH";
  }
}

}  // namespace

void end_at_signals() {
  struct sigaction leave {};
  leave.sa_handler = [](int) { ::_exit(0); };
  for (const int signal : ending) ::sigaction(signal, &leave, nullptr);
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
}

void hold_signals() {
  const sigset_t set = read_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::Signals(asio::io_context& io, Handlers handlers)
    : signals_(io, open_signalfd()), handlers_(std::move(handlers)) {
  asio::co_spawn(io, read_all(*this), or_abort);
}

Task<void> Signals::read_all(Signals& signals) {
  for (;;) {
    signalfd_siginfo info{};
    const auto [error, bytes] =
        co_await signals.signals_.async_read_some(asio::buffer(&info, sizeof info), as_result);
    if (error) co_return;
    signals.obey(static_cast<int>(info.ssi_signo));
  }
}

void Signals::obey(int signal) {
  switch (signal) {
    case SIGTERM:
    case SIGINT:
    case SIGQUIT: return std::exchange(ending_, true) ? handlers_.stop_now() : handlers_.stop();
    case SIGHUP: return handlers_.reload();
    default:
      if (reported_.insert(signal).second) handlers_.ignored(name_of(signal));
  }
}

}  // namespace reprise::server
