// The list of one io thread's client connections, used by shutdown and reload.
#pragma once

namespace reprise::net {
class AddressFilter;
}

namespace reprise::forward {

/// One open client connection.
class ClientSession {
 public:
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  /// Starts the shutdown. An idle connection closes unless a request has just arrived. A wait for a retry
  /// ends, and the last response is delivered. A tunnel ends once no bytes move.
  virtual void drain() = 0;
  /// A drain was requested, or a listener was closed: announces the end of the connection, if its protocol
  /// can do that before a response.
  virtual void announce_end() {}
  /// After a reload, closes a tunnel to an address that is now denied (row N3).
  virtual void judge(const net::AddressFilter&) {}
  /// Ends the session at once. Called at the end of the grace period.
  virtual void abort() = 0;

 protected:
  ClientSession() = default;
  virtual ~ClientSession() = default;

 private:
  friend class Sessions;
  ClientSession* previous_ = nullptr;
  ClientSession* next_ = nullptr;
};

/// An intrusive list; does not own its elements.
class Sessions {
 public:
  void add(ClientSession&);
  void remove(ClientSession&);
  /// Calls `visit` for each session. A visited session may remove itself.
  template <typename Visit>
  void each(Visit visit) {
    for (ClientSession* session = first_; session != nullptr;) {
      ClientSession* following = session->next_;
      visit(*session);
      session = following;
    }
  }

 private:
  ClientSession* first_ = nullptr;
};

}  // namespace reprise::forward
