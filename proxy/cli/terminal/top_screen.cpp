#include "proxy/cli/terminal/top_screen.hpp"

#include <sys/epoll.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "proxy/cli/terminal/terminal.hpp"
#include "proxy/tools/top/draw.hpp"

namespace reprise::cli {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A proxy that takes longer to respond is shown as not responding.
constexpr Duration response_timeout = std::chrono::seconds(3);
// Time to wait for more bytes after an Escape byte. A terminal sends all bytes of a key at once, but on a
// slow line some bytes arrive later.
constexpr Duration escape_wait = std::chrono::milliseconds(50);
// Number of readings over which rates and quantiles are computed.
constexpr std::size_t window = 10;

double seconds_now() { return std::chrono::duration<double>(net::Clock::now().time_since_epoch()).count(); }

// Returns an epoll descriptor that becomes ready when `in` does. If Asio waited on `in` itself, it would make
// `in` non-blocking. The shell shares this open file, so its reads would then not block either.
int readiness_of(int in) {
  const int ready = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  if (ready >= 0) epoll_ctl(ready, EPOLL_CTL_ADD, in, &event);
  return ready;
}

class TopScreen {
 public:
  explicit TopScreen(const ScreenOptions& options)
      : options_(options),
        terminal_(options.in, options.out),
        keys_ready_(io_, readiness_of(options.in)),
        signals_(io_, SIGINT, SIGTERM, SIGHUP),
        next_question_(io_),
        escape_(io_) {
    for (const int more : {SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}) signals_.add(more);
    look_.charset = options.charset;
    look_.where = tools::shown(server::authority_of(options.at), options.charset);
    look_.interval = options.interval_text;
  }

  ScreenEnd run(tools::Status first) {
    watch_.took(std::move(first), seconds_now());
    if (!terminal_.enter()) return {"standard input is not a terminal, or the terminal was closed", 0};
    await_signal();
    await_keys();
    draw();
    poll_history();
    io_.run();
    terminal_.leave();
    return {{}, signal_};
  }

 private:
  void quit(int signal) {
    signal_ = signal;
    io_.stop();
  }

  void draw() {
    const TerminalSize size = terminal_.size();
    look_.columns = size.columns;
    look_.rows = size.rows;
    look_.now = seconds_now();
    std::string frame = tools::bytes_of(tools::draw(watch_, view_, look_), options_.colour);
    if (frame == drawn_) return;
    drawn_ = std::move(frame);
    if (!terminal_.write(drawn_)) quit(0);
  }
  void draw_anew() {
    drawn_.clear();
    draw();
  }

  void await_signal() {
    signals_.async_wait([this](error_code error, int signal) {
      if (error) return;
      obey(signal);
      await_signal();
    });
  }
  void obey(int signal) {
    switch (signal) {
      case SIGWINCH: return draw_anew();
      case SIGTSTP:
        terminal_.leave();
        raise(SIGSTOP);
        return;
      case SIGCONT:
        if (!terminal_.enter()) return quit(0);
        return draw_anew();
      default: return quit(signal == SIGINT ? 0 : signal);
    }
  }

  void await_keys() {
    keys_ready_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (error) return;
      const auto bytes = terminal_.read();
      if (!bytes) return quit(0);
      press(keys_.take(*bytes));
      await_end_of_key();
      await_keys();
    });
  }
  void await_end_of_key() {
    escape_.cancel();
    if (!keys_.is_waiting()) return;
    escape_.expires_after(escape_wait);
    escape_.async_wait([this](error_code error) {
      if (!error) press(keys_.timed_out());
    });
  }
  void press(const std::vector<tools::KeyPress>& keys) {
    if (keys.empty()) return;
    for (const tools::KeyPress& key : keys) view_ = tools::pressed(std::move(view_), key, watch_, look_);
    if (view_.quits) return quit(0);
    draw();
  }

  // Sends at most one request at a time. The next poll begins one interval after the start of the previous
  // poll.
  void poll_status() {
    if (view_.paused) return await_next();
    asked_at_ = net::Clock::now();
    server::ask_admin(io_, options_.at, "/status", response_timeout,
                      [this](const server::AdminResponse& response) {
                        auto status = tools::read_status(response.body, &options_.charset);
                        if (response.status != 200 || !status.value) {
                          lose(not_understood(options_.at, response, status.why));
                          return await_next();
                        }
                        watch_.took(std::move(*status.value), seconds_now());
                        poll_history();
                      });
  }
  void poll_history() {
    server::ask_admin(io_, options_.at, "/stories", response_timeout,
                      [this](const server::AdminResponse& response) {
                        auto stories = tools::read_requests(response.body, &options_.charset);
                        // An older proxy has no request history.
                        if (stories.value && response.status == 200) watch_.took(std::move(*stories.value));
                        draw();
                        await_next();
                      });
  }
  void lose(std::string why) {
    watch_.lost(std::move(why), seconds_now());
    draw();
  }
  void await_next() {
    const Instant now = net::Clock::now();
    next_question_.expires_at(std::max(now, asked_at_ + options_.interval));
    if (view_.paused) next_question_.expires_at(now + options_.interval);
    next_question_.async_wait([this](error_code error) {
      if (!error) poll_status();
    });
  }

  const ScreenOptions& options_;
  asio::io_context io_;
  Terminal terminal_;
  asio::posix::stream_descriptor keys_ready_;
  asio::signal_set signals_;
  net::Timer next_question_;
  net::Timer escape_;
  Instant asked_at_ = net::Clock::now();
  tools::Watch watch_{window};
  tools::View view_;
  tools::Display look_;
  tools::KeyReader keys_;
  std::string drawn_;  ///< bytes of the last drawn screen; an unchanged screen is not sent again
  int signal_ = 0;
};

}  // namespace

std::string not_understood(const server::AdminAddress& at, const server::AdminResponse& response,
                           const std::string& why) {
  if (response.status == 0) return response.body;
  const std::string what = response.status == 200 ? why : "status " + std::to_string(response.status);
  return "no admin listener of reprise at " + server::authority_of(at) + ": " + what +
         "; name the address with --admin HOST:PORT, or with -c FILE";
}

ScreenEnd show_top(const ScreenOptions& options) {
  const server::AdminResponse response = server::ask_admin(options.at, "/status", response_timeout);
  auto first = tools::read_status(response.body, &options.charset);
  if (response.status != 200 || !first.value) return {not_understood(options.at, response, first.why), 0};
  return TopScreen(options).run(std::move(*first.value));
}

}  // namespace reprise::cli
