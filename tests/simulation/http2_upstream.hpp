// The upstream's end of one connection of a story with HTTP/2: sends responses as frames, and ends streams
// and connections as drawn. Speaks HTTP/1 if the first bytes are not the preface of HTTP/2.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/http2_intake.hpp"
#include "tests/simulation/upstream.hpp"

namespace reprise::simulation {

class Http2Upstream final : public Actor {
 public:
  Http2Upstream(Seed seed, World& world, Faults& faults, Book& book, std::shared_ptr<Wire> wire,
                Canary canary, const Http2Terms& terms, std::uint64_t number);
  ~Http2Upstream() override;
  Http2Upstream(const Http2Upstream&) = delete;
  Http2Upstream& operator=(const Http2Upstream&) = delete;

  void look() override;
  /// Resets the connection.
  void reset();
  /// For Canary::foreign_death: called when a connection ends.
  std::function<void()> on_death;
  bool has_open_streams() const { return plain_ == nullptr && intake_.open_streams() > 0; }
  /// For Canary::foreign_death: resets the connection without a record.
  void die_unseen();

 private:
  /// The response on one stream.
  struct Sending {
    RequestStream* stream = nullptr;
    std::int64_t window = 0;   ///< bytes of DATA that may be sent
    std::uint64_t unread = 0;  ///< DATA for which the stream's window was not reopened
    std::size_t part = 0;      ///< number of parts that were sent
    std::size_t offset = 0;    ///< bytes of the next part that were sent
    Duration pause{};
    bool begun = false;  ///< the response was chosen
    bool pausing = false;
    bool silent = false;  ///< no further frame is sent
    bool whole = false;   ///< the whole request was read
  };

  void offered(std::string_view first, std::size_t taken);
  void swallowed(std::string_view first, std::size_t taken);
  void proxy_left();
  void read();
  void handle(const WrittenFrame& frame);
  void take_settings(const WrittenFrame& frame);
  void take_window(const WrittenFrame& frame);
  void head_came(Sending& sending);
  void take_data(Sending& sending, const WrittenFrame& frame);
  void reopen(Sending& sending, std::size_t bytes);
  void request_came(Sending& sending);
  void begin_connection();
  void send_settings();
  void respond(Sending& sending);
  void pump();
  Sending* next_sending();
  bool can_send(const Sending& sending) const;
  void send_part(Sending& sending);
  void send_body(Sending& sending, const ResponsePart& part);
  void stop(Sending& sending);
  void close_stream(Sending& sending);
  void queue_cut_frame(const Sending& sending);
  void violate();
  void note_missing_end(const RequestStream& stream) const;
  void leave_if(Leaves when, const RequestStream* stream);
  void go_away();
  void send_last_goaway();
  void quiet();
  void end_connection(bool by_reset);
  void lose(StreamEnd how);
  void check_window();
  /// Queues frames. Does nothing if the connection is about to end: a frame may then be cut.
  void queue(std::string_view bytes) {
    if (!ends_) out_.append(bytes);
  }
  template <typename Action>
  void after(Duration wait, Action action);

  const Seed seed_;
  World& world_;
  Faults& faults_;
  Book& book_;
  const Canary canary_;
  std::shared_ptr<Wire> wire_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Chance pieces_;
  const ConnectionPlan plan_;
  const std::optional<Duration> idle_limit_;
  Http2Intake intake_;
  std::unique_ptr<Upstream> plain_;  ///< plays the connection if it is not HTTP/2
  std::map<std::int32_t, Sending> sendings_;
  std::string out_;
  std::uint64_t read_ = 0;               ///< bytes of the proxy that were read
  std::int64_t window_ = 65'535;         ///< bytes of DATA that may be sent on the connection
  std::int64_t stream_window_ = 65'535;  ///< INITIAL_WINDOW_SIZE of the proxy
  std::uint64_t spent_ = 0;              ///< bytes of DATA that were sent
  std::uint64_t returned_ = 0;           ///< bytes by which the proxy has reopened the connection's window
  std::int64_t full_window_ = 0;         ///< window of the connection before the first DATA
  std::uint64_t unread_ = 0;             ///< DATA for which the connection's window was not reopened
  unsigned frames_ = 0;                  ///< frames of responses that were sent
  bool decided_ = false;                 ///< the protocol is known
  bool checks_window_ = false;
  bool leaves_ = false;       ///< the first GOAWAY was sent
  bool left_ = false;         ///< the last GOAWAY was sent
  bool tells_leave_ = false;  ///< a GOAWAY is in `out_`
  std::optional<bool> ends_;  ///< the connection ends when `out_` is empty; true: by reset
  bool finished_ = false;     ///< this end's FIN was sent
  bool violated_ = false;     ///< a frame was sent that HTTP/2 does not allow
  bool over_ = false;
};

}  // namespace reprise::simulation
