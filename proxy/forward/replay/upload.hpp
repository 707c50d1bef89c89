// The pump of one attempt's request: sends the head and what is held, then the rest as the client sends it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/replay/request_body.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

enum class UploadEnd : std::uint8_t {
  running,
  sent,              ///< the kernel has taken every byte
  upstream_failed,   ///< EPIPE, reset or no progress: the response may be there all the same
  upstream_stalled,  ///< the same, and it was TCP_USER_TIMEOUT that noticed it
  client_gone,       ///< the client left before its body's end
  client_stalled,    ///< the client sent nothing of its body for the idle limit
  malformed,         ///< the client's chunked coding is broken
  replay_lost,       ///< what is held on disk cannot be read back
  stopped,           ///< by `stop`
};

/// Hears of an upload's end while it waits for something else.
class UploadListener {
 public:
  virtual void upload_ended(UploadEnd) = 0;

 protected:
  ~UploadListener() = default;
};

/// One attempt's. Small requests are sent in the caller's own breath; only what does not fit, or has not come
/// yet, takes a second coroutine. Must be stopped (joined) before it is destroyed.
class Upload {
 public:
  Upload(asio::any_io_executor executor, net::Stream& upstream, RequestBody& body, Duration idle);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  /// Sends as much as goes at once; spawns the rest. `head` and `last_lines` must stay where they are.
  void start(std::string_view head, std::string_view last_lines, UploadListener& listener);
  /// Ends it and waits until it is over. The connection is of no use afterwards unless `end()` was `sent`.
  Task<void> stop();
  /// Its end is told to that one from now on; null: to nobody.
  void tell(UploadListener* listener) { listener_ = listener; }

  UploadEnd end() const { return end_; }

 private:
  static Task<void> run(Upload& upload);
  void gather_held();
  void gather_last();
  Task<UploadEnd> pump();
  Task<UploadEnd> send_stored();
  Task<UploadEnd> send_piece(std::string_view piece);
  Task<UploadEnd> send_last();
  void finish(UploadEnd);

  asio::any_io_executor executor_;
  std::optional<net::Pause> joined_;  ///< while the second coroutine runs
  net::Stream& upstream_;
  RequestBody& body_;
  Duration idle_;
  Duration usual_timeout_{};  ///< the connection's, outside of uploads
  UploadListener* listener_ = nullptr;
  std::unique_ptr<ReplayReader> stored_;  ///< while what is held on disk is sent
  net::Gather pending_;
  std::string size_line_;
  std::string last_chunk_;
  bool last_is_gathered_ = false;
  bool stopping_ = false;
  UploadEnd end_ = UploadEnd::running;
};

}  // namespace reprise::forward
