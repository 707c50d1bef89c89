// The client's end of one connection: sends its requests one after the other or pipelined, and judges the
// responses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"
#include "tests/support/http_reader.hpp"

namespace reprise::simulation {

using play::field;
using play::HttpReader;
using play::number;

/// How a client behaves, apart from its requests.
struct ClientPlan {
  std::vector<RequestPlan> requests;
  bool pipelines = false;
  /// The client sends FIN when it has sent and received this many bytes in total, and has sent all its
  /// requests.
  std::optional<std::uint64_t> finishes_after;
  /// The client resets the connection when it has sent and received this many bytes in total.
  std::optional<std::uint64_t> resets_after;
  std::optional<std::uint64_t> stops_writing_at;
  std::optional<std::uint64_t> stops_reading_at;
  Duration stall{};  ///< how long the client pauses when it stalls
};

class Client final : public Actor {
 public:
  Client(World& world, Book& book, ClientPlan plan, std::shared_ptr<Wire> wire, Chance pieces);
  ~Client() override;

  /// Sends the first request, or all requests if the client pipelines.
  void start();
  void look() override;
  bool over() const { return over_; }
  /// Sends FIN, unless the client has already sent FIN.
  void go();

 private:
  void ask();
  std::string write_head(const RequestPlan& request) const;
  std::string write_request(const RequestPlan& request);
  void pump();
  void read();
  void take_body(std::string_view bytes);
  void judge_head();
  void response_came();
  void judge_whole();
  void judge_interim(int status);
  void judge_silent_end(std::uint64_t last);
  void connection_ended(bool by_reset);
  void end_request(ClientEnd end);
  void leave();
  void pause(bool& flag);
  void note_sent(std::size_t bytes);
  Account& account() { return *book_.find(plan_.requests[answered_].id); }
  std::uint64_t expected_bytes() const;
  HttpReader::Kind kind_of_response() const;

  World& world_;
  Book& book_;
  ClientPlan plan_;
  std::shared_ptr<Wire> wire_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Chance pieces_;
  HttpReader reader_;
  std::size_t asked_ = 0;     ///< number of requests written
  std::size_t answered_ = 0;  ///< number of responses read to their end
  std::string out_;
  std::vector<std::uint64_t> ends_;  ///< end offset of each request in the bytes sent on this connection
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t first_ = 0;  ///< offset of the body in its representation
  unsigned version_ = 0;
  unsigned interims_ = 0;
  bool continued_ = false;             ///< a 100 (Continue) was received
  std::uint64_t received_before_ = 0;  ///< value of received_ at the end of the last response
  bool head_judged_ = false;
  bool own_ = false;        ///< the proxy itself made the response
  std::string_view error_;  ///< expected body, if the response reports an error in its body
  bool forged_ = false;     ///< an upstream sent the response before any request
  bool stalls_reading_ = false;
  bool stalls_writing_ = false;
  bool stalled_ = false;  ///< the client has stalled, reading or writing
  bool finished_ = false;
  bool over_ = false;
};

}  // namespace reprise::simulation
