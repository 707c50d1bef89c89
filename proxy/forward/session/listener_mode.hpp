// The interface of listener modes: how they accept a connection, find its destination and report failures.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "config/settings.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/http/http2/request_text.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

class ServedClient;
struct ConnectionEnds;
struct ListenerRole;
class RequestListener;
class StreamListener;

/// One stateless object for each mode, shared by all threads.
class ListenerMode {
 public:
  ListenerMode(const ListenerMode&) = delete;
  ListenerMode& operator=(const ListenerMode&) = delete;

  /// Returns the mode's interface for HTTP requests; null if its connections do not begin with an HTTP
  /// request.
  virtual const RequestListener* requests() const { return nullptr; }
  /// Returns the mode's interface for byte streams; null if its connections begin with an HTTP request.
  /// Exactly one of `requests` and `streams` returns null.
  virtual const StreamListener* streams() const { return nullptr; }

  /// Returns the address that the client connected to. Returns an unset endpoint if sessions of this mode do
  /// not need the address.
  virtual tcp::endpoint asked_address(tcp::socket&) const { return {}; }
  /// Returns true if a connection that this proxy dials may be redirected back to a listener of this mode.
  virtual bool may_meet_own_dials() const { return false; }
  /// Returns the value of the Host field in requests to the upstream. Empty if the mode does not set this
  /// field.
  virtual std::string upstream_authority(const config::Listener&) const { return {}; }
  /// Returns the message for a client that is turned away for lack of room: `http_response`, or its
  /// equivalent in the client's protocol. Empty if the client gets no message. `first` is the first byte that
  /// the client sent, or 0 if unknown.
  virtual std::string no_room(std::string_view http_response, char /*first*/) const {
    return std::string(http_response);
  }

 protected:
  ListenerMode() = default;
  ~ListenerMode() = default;
};

/// A mode whose clients send HTTP requests to this proxy.
class RequestListener : public ListenerMode {
 public:
  const RequestListener* requests() const final { return this; }

  virtual RequestKind kind() const = 0;
  /// Returns the destination of the request, or why it is rejected.
  virtual http::Intake take_in(const http::RequestHead&, const ListenerRole&,
                               const ConnectionEnds&) const = 0;
  /// Returns the form in which `take_in` gets the target of an HTTP/2 request. In absolute-form, `take_in`
  /// can compare the request's authority with that of the listener or the connection (rows M4, M5 and M9). In
  /// origin-form, the authority is only the value of Host, as in HTTP/1.
  virtual http::TargetForm http2_target_form(const config::Listener&) const {
    return http::TargetForm::absolute;
  }
  /// Sets how responses are rewritten for the client. Precondition: the request's route is known.
  virtual void plan_responses(Request&, const ListenerRole&, const ConnectionEnds&) const {}

 protected:
  ~RequestListener() = default;
};

/// The destination of a byte stream.
struct StreamTarget {
  std::string host;  ///< host without port and brackets
  std::uint16_t port = 0;
  std::string authority;
};
/// The client left before it named a destination, or took too long (`late`).
struct StreamGone {
  bool late = false;
};

/// A mode whose connections are byte streams from their first byte.
class StreamListener : public ListenerMode, public StreamProtocol {
 public:
  const StreamListener* streams() const final { return this; }

  /// Determines the destination of the stream within `limit`. If the result is a rejection, the client has
  /// already received the reply.
  virtual Task<std::variant<StreamGone, http::Rejection, StreamTarget>> read_target(ServedClient&,
                                                                                    Duration limit) const = 0;
  /// Returns why a stream to this target is not allowed; absent if it is allowed.
  virtual std::optional<http::Rejection> judge(const ServedClient&, const StreamTarget&) const = 0;
  /// Reports to the client, within `limit`, that `judge` has rejected its stream.
  virtual Task<void> refuse(ServedClient&, http::Rejection, Duration limit) const = 0;
  /// Closes the connection of a rejected client.
  virtual Task<void> close(ServedClient&) const = 0;

 protected:
  ~StreamListener() = default;
};

/// Returns the object for that mode.
const ListenerMode& mode_of(config::ListenerMode);

}  // namespace reprise::forward
