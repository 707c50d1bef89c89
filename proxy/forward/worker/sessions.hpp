// The client connections of one io thread, as shutdown sees them.
#pragma once

namespace reprise::net {
class AddressFilter;
}

namespace reprise::forward {

/// One client connection, while it is open.
class ClientSession {
 public:
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  /// Shutdown: an idle connection closes unless a request has just come, a wait ends with the last response,
  /// a tunnel ends once it is quiet.
  virtual void drain() = 0;
  /// A reload: a tunnel to an address that is denied now ends (row N3).
  virtual void judge(const net::AddressFilter&) {}
  /// The grace is over: everything stops.
  virtual void abort() = 0;

 protected:
  ClientSession() = default;
  virtual ~ClientSession() = default;

 private:
  friend class Sessions;
  ClientSession* previous_ = nullptr;
  ClientSession* next_ = nullptr;
};

/// Intrusive list; owns none of them.
class Sessions {
 public:
  void add(ClientSession&);
  void remove(ClientSession&);
  /// Calls `visit` for each; a visited session may remove itself.
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
