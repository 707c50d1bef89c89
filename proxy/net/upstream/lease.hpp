// The connection (HTTP/1) or the stream (HTTP/2) that one attempt holds.
#pragma once

#include <memory>
#include <utility>

#include "proxy/net/upstream/http2_set.hpp"
#include "proxy/net/upstream/pool.hpp"

namespace reprise::net {

/// Empty, or a connection or stream that the attempt owns. Resetting it closes the connection, or ends the
/// stream. Like a pointer, a const lease gives access to a connection that is not const.
class Lease {
 public:
  Lease() = default;
  explicit Lease(std::unique_ptr<UpstreamConnection> connection) : connection_(std::move(connection)) {}
  explicit Lease(std::unique_ptr<StreamLease> stream) : stream_(std::move(stream)) {}

  explicit operator bool() const { return connection_ != nullptr || stream_ != nullptr; }
  bool is_http2() const { return stream_ != nullptr; }
  void reset() {
    connection_.reset();
    stream_.reset();
  }

  /// The following functions require that the lease is not empty.
  UpstreamEnd& end() const { return connection_ != nullptr ? connection_->end() : stream_->stream(); }
  /// Returns true if the connection has carried a request before this one. If such a connection ends, the
  /// server may have closed it only because it was idle.
  bool reused() const { return connection_ != nullptr ? connection_->reused() : stream_->reused(); }
  /// Returns the number of the connection, from 1, which is unique in its pool.
  std::uint64_t number() const { return connection_ != nullptr ? connection_->number() : stream_->number(); }
  const policy::UpstreamAddress& address() const {
    return connection_ != nullptr ? connection_->address() : stream_->address();
  }

  /// Returns the connection. Precondition: the lease is a connection of its own.
  UpstreamConnection& connection() const { return *connection_; }
  /// Returns the connection as a byte stream. Precondition: the lease is a connection of its own.
  Stream& byte_stream() const { return connection_->stream(); }
  /// Takes the connection out of the lease. Precondition: the lease is a connection of its own.
  std::unique_ptr<UpstreamConnection> take_connection() { return std::move(connection_); }
  /// Returns the stream. Precondition: `is_http2()`.
  StreamLease& stream() const { return *stream_; }

 private:
  std::unique_ptr<UpstreamConnection> connection_;
  std::unique_ptr<StreamLease> stream_;
};

}  // namespace reprise::net
