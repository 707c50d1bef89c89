// The modes of listeners: how a connection is accepted, what it asks for, and how its client is told of a
// failure.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "config/settings.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

class ServedClient;
struct ConnectionEnds;
struct ListenerRole;
class RequestListener;
class StreamListener;

/// One object a mode, without state; used by all threads.
class ListenerMode {
 public:
  ListenerMode(const ListenerMode&) = delete;
  ListenerMode& operator=(const ListenerMode&) = delete;

  /// For a mode whose connections begin with an HTTP request; else null.
  virtual const RequestListener* requests() const { return nullptr; }
  /// For a mode whose connections are byte streams from their beginning; else null. Exactly one of the two is
  /// not null.
  virtual const StreamListener* streams() const { return nullptr; }

  /// The address that the client connected to, for a mode whose sessions need it; else unset.
  virtual tcp::endpoint asked_address(tcp::socket&) const { return {}; }
  /// True if a connection of our own may come back in through such a listener.
  virtual bool may_meet_own_dials() const { return false; }
  /// What Host says towards the upstream, for a mode that sets it; else empty.
  virtual std::string upstream_authority(const config::Listener&) const { return {}; }
  /// What a client gets for which there is no room: `http_response`, or its like in the client's protocol.
  /// `first` is the first byte that it sent, 0 where that is not known. Empty: it gets nothing.
  virtual std::string no_room(std::string_view http_response, char /*first*/) const {
    return std::string(http_response);
  }

 protected:
  ListenerMode() = default;
  ~ListenerMode() = default;
};

/// A mode whose clients send HTTP requests to us.
class RequestListener : public ListenerMode {
 public:
  const RequestListener* requests() const final { return this; }

  virtual RequestKind kind() const = 0;
  /// Where the request goes, or why it is refused.
  virtual http::Intake take_in(const http::RequestHead&, const ListenerRole&,
                               const ConnectionEnds&) const = 0;
  /// Notes how the client sees the responses, once the request's route is known.
  virtual void plan_responses(Request&, const ListenerRole&, const ConnectionEnds&) const {}

 protected:
  ~RequestListener() = default;
};

/// Where a byte stream is to go.
struct StreamTarget {
  std::string host;  ///< without port or brackets
  std::uint16_t port = 0;
  std::string authority;
};
/// The client left before it had asked, or was too slow (`late`).
struct StreamGone {
  bool late = false;
};

/// A mode whose connections are byte streams from their beginning.
class StreamListener : public ListenerMode, public StreamProtocol {
 public:
  const StreamListener* streams() const final { return this; }

  /// Finds out where the stream is to go, within `limit`. A client whose words are refused has been told so.
  virtual Task<std::variant<StreamGone, http::Rejection, StreamTarget>> ask(ServedClient&,
                                                                            Duration limit) const = 0;
  /// Why a stream may not go there; absent: it may.
  virtual std::optional<http::Rejection> judge(const ServedClient&, const StreamTarget&) const = 0;
  /// Tells the client, within `limit`, that `judge` has refused its stream.
  virtual Task<void> refuse(ServedClient&, http::Rejection, Duration limit) const = 0;
  /// Ends the connection of a client that was refused.
  virtual Task<void> close(ServedClient&) const = 0;

 protected:
  ~StreamListener() = default;
};

/// The object of a mode.
const ListenerMode& mode_of(config::ListenerMode);

}  // namespace reprise::forward
