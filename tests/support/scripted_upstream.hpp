// An upstream on loopback that runs a test's script for each connection, on a thread per connection.
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
  unsigned number = 0;  ///< number of the connection, from 1, in the order of acceptance

  /// Reads the next request. Returns the head with its empty line, then the body as sent, chunk framing
  /// included. Returns "" at the end of the connection.
  std::string read_request();
  /// Reads only the head of the next request.
  std::string read_head();
  void send(std::string_view bytes) { socket.send(bytes); }
};

/// Listens on 127.0.0.1, port 0. Destruction ends every connection and joins every thread.
class ScriptedUpstream {
 public:
  /// Runs once per connection, on that connection's own thread. When the script returns, the connection is
  /// closed (FIN).
  using Script = std::function<void(Peer&)>;

  explicit ScriptedUpstream(Script script);
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  std::uint16_t port() const { return port_.number(); }
  std::string authority() const { return port_.authority(); }
  /// Refuses new connections from now on. Open connections stay open. A script may call it.
  void stop_listening();
  /// Returns the number of connections accepted so far.
  unsigned connections() const { return accepted_; }
  /// Returns the number of connections whose script has not returned yet.
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

/// Returns a script that reads requests until the connection ends. The n-th request over all connections gets
/// the n-th response; the last response repeats.
ScriptedUpstream::Script responses(std::vector<std::string> in_turn);

/// Messages that scripts received, collected across threads.
class Heard {
 public:
  void add(std::string message);
  std::size_t size() const;
  std::string at(std::size_t index) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// Makes a response with Content-Length and Date.
std::string response(int status, std::string_view body, std::string_view fields = {});

}  // namespace reprise::play
