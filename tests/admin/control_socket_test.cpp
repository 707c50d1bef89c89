#include "proxy/server/admin/control_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "proxy/server/admin/ask_control.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/scarce_descriptors.hpp"

namespace reprise::server {
namespace {

constexpr std::chrono::seconds patience{120};

class ControlSocketTest : public ::testing::Test {
 protected:
  ~ControlSocketTest() override { end(); }

  /// Starts a control socket that responds to a command with the number of its words and the words
  /// themselves. A command of two words fails.
  void begin() {
    socket_ = std::make_unique<ControlSocket>(io_, path_);
    socket_->serve([this](const std::vector<std::string>& words, const ControlSocket::Respond& respond) {
      std::string text = std::to_string(words.size());
      for (const std::string& word : words) text.append(" ").append(word);
      // Responds from another thread, as a reload does.
      responders_.emplace_back([respond, text, good = words.size() != 2] { respond({good, text}); });
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  void end() {
    if (socket_ == nullptr) return;
    asio::post(io_, [this] { socket_.reset(); });
    guard_.reset();
    thread_.join();
    for (std::thread& responder : responders_) responder.join();
  }
  int raw() const {
    const int line = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, path_.size());
    EXPECT_EQ(::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return line;
  }

  asio::io_context io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> guard_{io_.get_executor()};
  const play::OwnFolder folder_;
  const std::string path_ = folder_.path() + "/c";
  std::unique_ptr<ControlSocket> socket_;
  std::thread thread_;
  std::vector<std::thread> responders_;  ///< used by `thread_` until it ends
};

TEST_F(ControlSocketTest, follow_up_action_runs_after_the_response_is_sent) {
  for (int round = 0; round < 50; ++round) {
    asio::io_context io;
    ControlSocket socket(io, path_);
    socket.serve([&io](const std::vector<std::string>&, const ControlSocket::Respond& respond) {
      respond({true, "ends", [&io] { io.stop(); }});
    });
    std::thread loop([&io] { io.run(); });
    const ControlResponse response = ask_control(path_, "quit", patience);
    EXPECT_TRUE(response.succeeded) << response.text;
    EXPECT_EQ(response.text, "ends");
    loop.join();
  }
}

TEST_F(ControlSocketTest, follow_up_action_runs_when_the_caller_has_gone) {
  asio::io_context io;
  ControlSocket socket(io, path_);
  socket.serve([&io](const std::vector<std::string>&, const ControlSocket::Respond& respond) {
    respond({true, "ends", [&io] { io.stop(); }});
  });
  const int line = raw();
  ASSERT_EQ(::send(line, "quit\n", 5, MSG_NOSIGNAL), 5);
  ::close(line);
  io.run();
}

TEST_F(ControlSocketTest, each_command_gets_its_response) {
  begin();
  ControlResponse response = ask_control(path_, "log  level debug", patience);
  EXPECT_TRUE(response.succeeded);
  EXPECT_EQ(response.text, "3 log level debug");
  response = ask_control(path_, "two words", patience);
  EXPECT_FALSE(response.succeeded);
  EXPECT_EQ(response.text, "2 two words");
  EXPECT_TRUE(ask_control(path_, "", patience).succeeded) << "no words at all";
  response = ask_control(path_, std::string(5000, 'x'), patience);
  EXPECT_FALSE(response.succeeded);
  EXPECT_NE(response.text.find("at most 1024 bytes"), std::string::npos) << response.text;
}

TEST_F(ControlSocketTest, socket_file_has_mode_0600_and_is_removed_on_shutdown) {
  begin();
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  end();
  EXPECT_NE(::stat(path_.c_str(), &found), 0);
}

TEST_F(ControlSocketTest, stale_socket_file_of_a_dead_process_is_replaced) {
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, path_.size());
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(left);
  begin();
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded);
}

TEST_F(ControlSocketTest, existing_live_socket_or_other_file_is_not_replaced) {
  begin();
  EXPECT_THROW(ControlSocket(io_, path_), ControlError);
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded) << "it still works";
  const std::string plain = folder_.path() + "/plain";
  std::ofstream(plain) << "mine";
  EXPECT_THROW(ControlSocket(io_, plain), ControlError);
  EXPECT_EQ(std::filesystem::file_size(plain), 4U);
  EXPECT_THROW(ControlSocket(io_, plain + "/below"), ControlError);
  EXPECT_THROW(ControlSocket(io_, folder_.path() + "/no/folder"), ControlError);
  EXPECT_THROW(ControlSocket(io_, "/" + std::string(200, 'x')), ControlError);
}

TEST_F(ControlSocketTest, shutdown_keeps_a_file_that_replaced_the_socket_file) {
  begin();
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  std::ofstream(path_) << "another";
  end();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(ControlSocketTest, silent_callers_are_disconnected) {
  begin();
  std::vector<int> lines;
  for (unsigned i = 0; i < ControlSocket::most_callers + 5; ++i) lines.push_back(raw());
  char nothing = 0;
  for (const int line : lines) EXPECT_LE(::recv(line, &nothing, 1, 0), 0) << "an end, without a word";
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded);
  for (const int line : lines) ::close(line);
}

TEST_F(ControlSocketTest, caller_that_disconnects_at_the_moment_of_its_timeout_does_no_harm) {
  begin();
  std::vector<int> lines;
  for (unsigned i = 1; i < ControlSocket::most_callers; ++i) lines.push_back(raw());
  ASSERT_TRUE(ask_control(path_, "x", patience).succeeded) << "those before it are accepted";
  // Blocks the loop until the timeouts are due. The loop then finds the closed connections and the expired
  // timeouts at the same time.
  asio::post(io_, [&lines] {
    const auto limit = std::chrono::steady_clock::now() + ControlSocket::patience;
    for (const int line : lines) ::close(line);
    std::this_thread::sleep_until(limit);
  });
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded);
}

TEST_F(ControlSocketTest, longest_silent_caller_is_evicted_when_all_slots_are_taken) {
  begin();
  std::vector<int> lines;
  for (unsigned i = 0; i < ControlSocket::most_callers; ++i) lines.push_back(raw());
  ASSERT_EQ(::send(lines[0], "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded);
  char nothing = 0;
  EXPECT_EQ(::recv(lines[1], &nothing, 1, 0), 0)
      << "the first has sent a byte, so the second was silent longest";
  ASSERT_EQ(::send(lines[0], "\n", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(::recv(lines[0], &nothing, 1, 0), 1) << "a response";
  EXPECT_EQ(nothing, 'o');
  for (const int line : lines) ::close(line);
}

TEST_F(ControlSocketTest, new_caller_is_told_to_try_again_if_all_earlier_callers_still_await_a_response) {
  ControlSocket socket(io_, path_);
  std::vector<ControlSocket::Respond> waiting;
  socket.serve([&waiting](const std::vector<std::string>&, const ControlSocket::Respond& respond) {
    waiting.push_back(respond);
  });
  std::vector<int> lines;
  for (unsigned i = 0; i < ControlSocket::most_callers; ++i) {
    lines.push_back(raw());
    ASSERT_EQ(::send(lines.back(), "x\n", 2, MSG_NOSIGNAL), 2);
    while (waiting.size() <= i) io_.run_one();
  }
  const int late = raw();
  ASSERT_EQ(::send(late, "x\n", 2, MSG_NOSIGNAL), 2);
  std::array<char, 256> text{};
  ssize_t bytes = 0;
  while ((bytes = ::recv(late, text.data(), text.size(), MSG_DONTWAIT)) <= 0) io_.run_one();
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(bytes)),
            "error\n16 commands are already running: try again later\n");
  for (const ControlSocket::Respond& respond : waiting) respond({true, "done"});
  for (const int line : lines) {
    while (::recv(line, text.data(), 3, MSG_DONTWAIT) != 3) io_.run_one();
    EXPECT_EQ(std::string(text.data(), 3), "ok\n");
    ::close(line);
  }
  ::close(late);
}

TEST_F(ControlSocketTest, response_function_may_outlive_the_io_context) {
  ControlSocket::Respond kept;
  {
    asio::io_context io;
    ControlSocket socket(io, path_);
    socket.serve([&kept](const std::vector<std::string>&, const ControlSocket::Respond& respond) {
      kept = respond;
      respond({true, "done"});
    });
    const int line = raw();
    ASSERT_EQ(::send(line, "x\n", 2, MSG_NOSIGNAL), 2);
    char first = 0;
    while (::recv(line, &first, 1, MSG_DONTWAIT) != 1) io.run_one();
    EXPECT_EQ(first, 'o');
    ::close(line);
  }
  EXPECT_TRUE(kept != nullptr) << "it is released only now: the address sanitizer checks what it refers to";
}

TEST_F(ControlSocketTest, callers_that_disconnect_early_do_not_block_later_callers) {
  begin();
  for (int times = 0; times < 3; ++times) {
    for (const std::string_view part : {"", "half of a comm", "x\n"}) {
      const int line = raw();
      ::send(line, part.data(), part.size(), MSG_NOSIGNAL);
      ::close(line);
    }
  }
  EXPECT_TRUE(ask_control(path_, "x", patience).succeeded);
}

TEST_F(ControlSocketTest, I6_client_and_server_both_report_too_many_open_files) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  // The first socket makes `io_` open its own descriptors now, because none are left later.
  const asio::local::stream_protocol::acceptor first(io_);
  const play::ScarceDescriptors scarce(0);
  const ControlResponse response = ask_control(path_, "x", patience);
  EXPECT_EQ(response.text, path_ + ": Too many open files");
  try {
    const ControlSocket socket(io_, path_);
    FAIL() << "it listens";
  } catch (const ControlError& error) {
    EXPECT_NE(std::string_view(error.what()).find("Too many open files"), std::string_view::npos)
        << error.what();
  }
}

TEST_F(ControlSocketTest, client_reports_why_the_control_socket_gave_no_response) {
  ControlResponse response = ask_control(path_, "x", patience);
  EXPECT_NE(response.text.find("no process listens at"), std::string::npos) << response.text;
  response = ask_control("/" + std::string(200, 'x'), "x", patience);
  EXPECT_FALSE(response.succeeded);
  const int deaf = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, path_.size());
  ASSERT_EQ(::bind(deaf, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(deaf, 5), 0);
  response = ask_control(path_, "x", std::chrono::seconds(1));
  EXPECT_NE(response.text.find("no response within 1 s"), std::string::npos) << response.text;
  std::thread babbler([&] {
    for (int i = 0; i < 2; ++i) {
      const int caller = ::accept(deaf, nullptr, nullptr);
      ::send(caller, "220 smtp\n", 9, MSG_NOSIGNAL);
      ::close(caller);
    }
  });
  response = ask_control(path_, "x", patience);
  babbler.join();
  EXPECT_FALSE(response.succeeded);
  ::close(deaf);
}

}  // namespace
}  // namespace reprise::server
