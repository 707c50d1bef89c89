// Tests `reprise top`: modes and frames on a pseudo-terminal, and its plain lines without a terminal.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "proxy/cli/terminal/terminal.hpp"
#include "proxy/cli/terminal/top_lines.hpp"
#include "proxy/cli/terminal/top_screen.hpp"
#include "proxy/tools/top/screen.hpp"
#include "tests/support/own_variable.hpp"
#include "tests/support/refusing_port.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::cli {
namespace {

constexpr int patience_ms = 120'000;

// A pseudo-terminal. The test reads and types at the master side; the program uses the slave side.
class Pty {
 public:
  Pty() {
    winsize size{24, 80, 0, 0};
    if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0)
      throw std::runtime_error("no pseudo-terminal");
  }
  ~Pty() {
    hang_up();
    close(slave_);
  }

  int slave() const { return slave_; }
  void type(std::string_view keys) {
    EXPECT_EQ(::write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(std::size_t columns, std::size_t rows) {
    const winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
    EXPECT_EQ(ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  // Returns the output since the last call, up to the end of `text`. Throws if `text` does not arrive.
  std::string until(const std::string& text) {
    while (true) {
      const std::size_t found = came_.find(text);
      if (found != std::string::npos) {
        std::string part = came_.substr(0, found + text.size());
        came_.erase(0, part.size());
        return part;
      }
      pollfd ready{master_, POLLIN, 0};
      char bytes[4096];
      const ssize_t got = poll(&ready, 1, patience_ms) == 1 ? ::read(master_, bytes, sizeof bytes) : -1;
      if (got <= 0) throw std::runtime_error("it never said " + text + ", but: " + came_);
      came_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  termios modes() const {
    termios modes{};
    EXPECT_EQ(tcgetattr(slave_, &modes), 0);
    return modes;
  }
  bool is_as_shells_have_it() const {
    return (modes().c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG);
  }
  void hang_up() {
    if (master_ >= 0) close(master_);
    master_ = -1;
  }

 private:
  int master_ = -1;
  int slave_ = -1;
  std::string came_;
};

std::string status(int uptime, int requests) {
  return R"({"version":"0.1.0","started":1,"uptime_seconds":)" + std::to_string(uptime) +
         R"(,"ready":true,"routes":[{"name":"payments","requests":)" + std::to_string(requests) +
         R"(}],"totals":{"requests":)" + std::to_string(requests) + "}}";
}

// An admin listener whose counters grow by ten with each request.
class Admin {
 public:
  Admin()
      : upstream_([this](play::Peer& peer) {
          const std::string asked = peer.read_request();
          if (asked.starts_with("GET /status ")) {
            const int number = ++asked_;
            peer.send(play::response(broken_ ? 500 : 200, broken_ ? "no" : status(number, 10 * number)));
          } else {
            peer.send(play::response(
                200, R"([{"id":"1-1","route":"payments","method":"GET","host":"h","port":80,"path":"/p",
              "status":503,"ending":"complete","reason":"not_idempotent","meaning":"because"}])"));
          }
        }) {}

  server::AdminAddress address() const { return {"127.0.0.1", std::to_string(upstream_.port())}; }
  void set_broken(bool broken) { broken_ = broken; }
  void forget() { asked_ = 0; }

 private:
  std::atomic<int> asked_{0};
  std::atomic<bool> broken_{false};
  play::ScriptedUpstream upstream_;
};

class OnTerminal : public testing::Test {
 protected:
  void begin() {
    ScreenOptions options;
    options.at = admin_.address();
    options.interval = std::chrono::milliseconds(100);
    options.interval_text = "100ms";
    options.colour = false;
    options.in = options.out = pty_.slave();
    thread_ = std::thread([this, options] { end_ = show_top(options); });
    pty_.until(std::string(tools::enter_screen));
  }
  // Sends the signal to the thread that draws, because Asio's signal handler reads data of that thread
  // without a lock. In the real `reprise top` there is no other thread.
  void raise_there(int signal) { pthread_kill(thread_.native_handle(), signal); }
  const ScreenEnd& end() {
    thread_.join();
    return end_;
  }
  void TearDown() override {
    pty_.hang_up();
    if (thread_.joinable()) thread_.join();
  }

  Pty pty_;
  Admin admin_;
  std::thread thread_;
  ScreenEnd end_;
};

TEST_F(OnTerminal, display_is_drawn_until_the_user_quits) {
  begin();
  pty_.until("payments");
  pty_.until("because");
  EXPECT_EQ(pty_.modes().c_lflag & (ICANON | ECHO), 0U);
  pty_.type("q");
  pty_.until(std::string(tools::leave_screen));
  EXPECT_EQ(end().signal, 0);
  EXPECT_EQ(end_.error, "");
  EXPECT_TRUE(pty_.is_as_shells_have_it());
  EXPECT_EQ(fcntl(pty_.slave(), F_GETFL) & O_NONBLOCK, 0) << "what the shell has open too is not changed";
}

TEST_F(OnTerminal, keys_are_recognised_even_if_their_bytes_arrive_separately) {
  begin();
  pty_.type("\r");
  pty_.until("LAST RETRIED OR REFUSED OF payments");
  pty_.type("\x1b");
  pty_.until("ROUTE");
  pty_.type("?");
  pty_.until("last retried or refused requests of the selected route");
  pty_.type("\x1b");
  pty_.until("ROUTE");
  pty_.type("p");
  pty_.until("PAUSED");
  pty_.type("pu");
  pty_.until("UPSTREAM ");
  pty_.type("q");
  EXPECT_EQ(end().signal, 0);
}

TEST_F(OnTerminal, display_is_redrawn_after_a_resize) {
  begin();
  pty_.until("payments");
  pty_.resize(40, 10);
  raise_there(SIGWINCH);
  // Waits for a frame with exactly as many lines as the terminal now has.
  std::string frame;
  do {
    pty_.until("\x1b[H");
    frame = pty_.until("\x1b[J");
  } while (std::count(frame.begin(), frame.end(), '\n') != 9);
  pty_.type("q");
  EXPECT_EQ(end().signal, 0);
}

TEST_F(OnTerminal, signal_ends_the_display_and_restores_the_terminal) {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGINT}) {
    begin();
    pty_.until("payments");
    raise_there(signal);
    EXPECT_EQ(end().signal, signal == SIGINT ? 0 : signal);
    EXPECT_TRUE(pty_.is_as_shells_have_it());
    pty_.until(std::string(tools::leave_screen));
  }
}

TEST_F(OnTerminal, continued_process_sets_up_the_terminal_again) {
  begin();
  pty_.until("payments");
  termios modes = pty_.modes();
  modes.c_lflag |= ICANON | ECHO;
  EXPECT_EQ(tcsetattr(pty_.slave(), TCSANOW, &modes), 0) << "as the shell does while it is stopped";
  raise_there(SIGCONT);
  pty_.until(std::string(tools::enter_screen));
  pty_.until("payments");
  EXPECT_EQ(pty_.modes().c_lflag & (ICANON | ECHO), 0U);
  pty_.type("q");
  EXPECT_EQ(end().signal, 0);
  EXPECT_TRUE(pty_.is_as_shells_have_it());
}

TEST_F(OnTerminal, display_ends_when_the_terminal_hangs_up) {
  begin();
  pty_.until("payments");
  pty_.hang_up();
  EXPECT_EQ(end().signal, 0);
}

TEST_F(OnTerminal, unresponsive_proxy_is_reported_and_queried_again) {
  begin();
  pty_.until("payments");
  admin_.set_broken(true);
  pty_.until("NO RESPONSE");
  pty_.until("status 500");
  admin_.set_broken(false);
  pty_.type("u");
  pty_.until("UPSTREAM ");
  std::string frame;
  do {
    pty_.until("\x1b[H");
    frame = pty_.until("\x1b[J");
  } while (frame.find("NO RESPONSE") != std::string::npos);
  admin_.forget();
  pty_.until("RESTARTED");
  pty_.type("q");
  EXPECT_EQ(end().signal, 0);
}

TEST(Screen, display_does_not_start_without_a_response) {
  const play::RefusingPort nobody;
  ScreenOptions options;
  options.at = {"127.0.0.1", std::to_string(nobody.number())};
  const ScreenEnd end = show_top(options);
  EXPECT_NE(end.error.find("no response from the admin listener at 127.0.0.1:"), std::string::npos)
      << end.error;
}

TEST(Screen, display_does_not_start_if_the_address_belongs_to_another_server) {
  play::ScriptedUpstream other([](play::Peer& peer) {
    peer.read_request();
    peer.send(play::response(200, "<html>"));
  });
  ScreenOptions options;
  options.at = {"127.0.0.1", std::to_string(other.port())};
  const ScreenEnd end = show_top(options);
  EXPECT_NE(end.error.find("no admin listener of reprise at"), std::string::npos) << end.error;
}

TEST(Screen, display_does_not_start_without_a_terminal) {
  const Admin admin;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ScreenOptions options;
  options.at = admin.address();
  options.in = options.out = pipe[0];
  EXPECT_NE(show_top(options).error.find("not a terminal"), std::string::npos);
  close(pipe[0]);
  close(pipe[1]);
}

TEST(Terminal, terminal_size_is_detected_or_defaults_to_80_by_24) {
  Pty pty;
  pty.resize(300, 100);
  EXPECT_EQ(Terminal(pty.slave(), pty.slave()).size().columns, 300U);
  pty.resize(0, 0);
  EXPECT_EQ(Terminal(pty.slave(), pty.slave()).size().rows, 24U);
  pty.resize(60000, 60000);
  EXPECT_LE(Terminal(pty.slave(), pty.slave()).size().columns, 1000U);
  EXPECT_EQ(Terminal(-1, -1).size().columns, 80U);
}

TEST(Terminal, closed_terminal_is_reported) {
  Terminal none(-1, -1);
  EXPECT_FALSE(none.enter());
  EXPECT_FALSE(none.write("x"));
  Pty pty;
  Terminal terminal(pty.slave(), pty.slave());
  ASSERT_TRUE(terminal.enter());
  pty.hang_up();
  EXPECT_FALSE(terminal.read());
  EXPECT_FALSE(terminal.write("x"));
}

TEST(Terminal, terminal_works_on_a_non_blocking_descriptor) {
  Pty pty;
  fcntl(pty.slave(), F_SETFL, O_RDWR | O_NONBLOCK);
  Terminal terminal(pty.slave(), pty.slave());
  ASSERT_TRUE(terminal.enter());
  EXPECT_EQ(terminal.read(), "");
  const std::string much(1'000'000, 'x');
  std::thread writer([&] { EXPECT_TRUE(terminal.write(much + "end")); });
  pty.until("end");
  writer.join();
}

TEST(Terminal, charset_follows_the_locale) {
  play::OwnVariable locale("LC_ALL", "C");
  EXPECT_FALSE(charset_of_locale().utf8);
  locale.set("no_SUCH.UTF-8");
  EXPECT_FALSE(charset_of_locale().utf8);
  locale.set("C.UTF-8");
  const tools::Charset charset = charset_of_locale();
  EXPECT_TRUE(charset.utf8);
  EXPECT_EQ(charset.columns(U'日'), 2);
}

struct Printed {
  std::vector<std::string> lines, warnings;
  bool right = false;
};

Printed print(const server::AdminAddress& at, std::uint64_t count,
              const std::function<bool(std::size_t)>& goes_on = {}) {
  Printed printed;
  LinesOptions options;
  options.at = at;
  options.interval = std::chrono::milliseconds(5);
  options.count = count;
  options.print = [&](std::string_view lines) {
    printed.lines.emplace_back(lines);
    return !goes_on || goes_on(printed.lines.size());
  };
  options.warn = [&](std::string_view sentence) {
    printed.warnings.emplace_back(sentence);
    if (goes_on) goes_on(printed.lines.size());
  };
  printed.right = print_top(options);
  return printed;
}

TEST(Lines, line_output_has_the_requested_number_of_intervals) {
  const Admin admin;
  const Printed printed = print(admin.address(), 3);
  EXPECT_TRUE(printed.right);
  ASSERT_EQ(printed.lines.size(), 3U);
  for (const std::string& line : printed.lines)
    EXPECT_NE(line.find(" route=payments "), std::string::npos) << line;
  EXPECT_NE(printed.lines[2].find(" requests=10 "), std::string::npos) << printed.lines[2];
  EXPECT_TRUE(printed.warnings.empty());
}

TEST(Lines, line_output_ends_when_the_reader_stops) {
  const Admin admin;
  EXPECT_EQ(print(admin.address(), 0, [](std::size_t lines) { return lines < 2; }).lines.size(), 2U);
}

TEST(Lines, lost_connection_is_reported_once_and_every_restart_of_the_proxy_is_reported) {
  Admin admin;
  const Printed printed = print(admin.address(), 0, [&](std::size_t lines) {
    // After the first line, the listener fails until a warning reports the failure. Then the listener works
    // again, with its counters at zero.
    static bool was_broken = false;
    if (lines == 1 && !was_broken)
      admin.set_broken(was_broken = true);
    else if (lines == 1) {
      admin.set_broken(false);
      admin.forget();
    }
    return lines < 4;
  });
  ASSERT_EQ(printed.warnings.size(), 2U);
  EXPECT_NE(printed.warnings[0].find("status 500"), std::string::npos);
  EXPECT_NE(printed.warnings[1].find("has restarted"), std::string::npos);
}

TEST(Lines, line_output_fails_without_a_first_response) {
  const play::RefusingPort nobody;
  const Printed printed = print({"127.0.0.1", std::to_string(nobody.number())}, 3);
  EXPECT_FALSE(printed.right);
  EXPECT_EQ(printed.warnings.size(), 1U);
  EXPECT_TRUE(printed.lines.empty());
}

}  // namespace
}  // namespace reprise::cli
