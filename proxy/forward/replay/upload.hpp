// Sends the request of one attempt: the head and the held bytes first, then the rest as the client sends it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/net/ends/upstream_end.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

enum class UploadEnd : std::uint8_t {
  running,
  sent,              ///< the kernel has taken every byte
  upstream_failed,   ///< EPIPE, reset or no progress; a response may nevertheless have arrived
  upstream_stalled,  ///< like `upstream_failed`, but detected by TCP_USER_TIMEOUT
  client_gone,       ///< the client left before the end of its body
  client_stalled,    ///< the client sent no byte of its body within the idle limit
  malformed,         ///< the client's chunked coding is malformed
  replay_lost,       ///< the bytes held on disk cannot be read back
  stopped,           ///< ended by `stop`
};

/// Notified when an upload ends while this listener waits for something else.
class UploadListener {
 public:
  virtual void upload_ended(UploadEnd) = 0;

 protected:
  ~UploadListener() = default;
};

/// One per attempt. Small requests are sent within `start`. A second coroutine starts only if the kernel does
/// not take all bytes at once, or if part of the body has not arrived from the client. An upload must be
/// stopped (joined) before it is destroyed.
class Upload {
 public:
  Upload(asio::any_io_executor executor, net::RequestSink& upstream, RequestBody& body, Duration idle);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  /// Sends what the kernel takes at once, and spawns a coroutine for the rest. `head` and `last_lines` must
  /// stay valid.
  /// `never_indexed`: see RequestHead.
  void start(std::string_view head, std::string_view last_lines, UploadListener& listener,
             std::string_view never_indexed = {});
  /// Stops the upload and waits for its end. Afterwards the connection can only be read from, unless `end()`
  /// is `sent`.
  Task<void> stop();
  /// Releases the held bytes of the body as soon as they are sent, and holds no more: no later attempt needs
  /// them.
  void stop_holding();
  /// Replaces the listener; null for none.
  void set_listener(UploadListener* listener) { listener_ = listener; }

  UploadEnd end() const { return end_; }

 private:
  static Task<void> run(Upload& upload);
  std::string trailers() const;
  Task<UploadEnd> pump();
  Task<UploadEnd> send_stored();
  Task<UploadEnd> send_piece(std::string_view piece);
  Task<UploadEnd> send_last();
  void finish(UploadEnd);

  asio::any_io_executor executor_;
  std::optional<net::Pause> joined_;  ///< set if the second coroutine was started
  net::RequestSink& upstream_;
  RequestBody& body_;
  Duration idle_;
  UploadListener* listener_ = nullptr;
  std::unique_ptr<ReplayReader> stored_;  ///< set while the bytes held on disk are sent
  bool stopping_ = false;
  bool holds_ = true;
  UploadEnd end_ = UploadEnd::running;
};

}  // namespace reprise::forward
