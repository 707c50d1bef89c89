// An upstream on loopback that does what a test's script says,
// connection by connection, on threads of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/raw_socket.hpp"
#include "tests/support/refusing_port.hpp"

namespace reprise::play {

/// One accepted connection, as a script sees it.
struct Peer {
  RawSocket socket;
  unsigned number = 0;  ///< from 1, in the order of acceptance

  /// The next request: its head, blank line included, and its body as sent (chunk framing and all). Empty at
  /// the end of the connection.
  std::string read_request();
  /// The next request's head alone.
  std::string read_head();
  void send(std::string_view bytes) { socket.send(bytes); }
};

/// Listens on 127.0.0.1, port 0. Destruction ends every connection and joins every thread.
class ScriptedUpstream {
 public:
  /// Runs once per connection, on that connection's own thread; its return closes the connection (FIN).
  using Script = std::function<void(Peer&)>;

  explicit ScriptedUpstream(Script script);
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  std::uint16_t port() const { return port_.number(); }
  std::string authority() const { return port_.authority(); }
  /// From now on new connections are refused; those that stand go on. May be called by a script.
  void stop_listening();
  /// Connections accepted so far.
  unsigned connections() const { return accepted_; }
  /// Connections whose script has not returned yet.
  unsigned running() const { return running_; }

 private:
  struct Connection {
    Peer peer;
    std::thread thread;
  };

  void accept();
  void run(Connection&);

  const Script script_;
  const RefusingPort port_;
  const int listener_;
  std::atomic<unsigned> accepted_{0};
  std::atomic<unsigned> running_{0};
  std::mutex mutex_;
  bool ending_ = false;
  std::list<Connection> connections_;
  std::thread acceptor_;
};

/// A script that reads requests for as long as they come, and gives the n-th of the process of this script
/// the n-th response; the last response stays.
ScriptedUpstream::Script responses(std::vector<std::string> in_turn);

/// What scripts heard, gathered across threads.
class Heard {
 public:
  void add(std::string message);
  std::size_t size() const;
  std::string at(std::size_t index) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// A response with Content-Length and a Date.
std::string response(int status, std::string_view body, std::string_view fields = {});

}  // namespace reprise::play
