// The upstream's end of one connection: reads requests, counts their effects, and sends the drawn responses.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "tests/simulation/canary.hpp"
#include "tests/simulation/purpose.hpp"
#include "tests/simulation/response_plan.hpp"
#include "tests/simulation/wire.hpp"
#include "tests/support/http_reader.hpp"

namespace reprise::simulation {

using play::field;
using play::HttpReader;
using play::number;

class Upstream final : public Actor {
 public:
  Upstream(Seed seed, World& world, Faults& faults, Book& book, std::shared_ptr<Wire> wire, Canary canary);
  ~Upstream() override;

  void look() override;
  /// Accounts for `taken` bytes that the proxy has put on the wire. `head`: the first piece of these bytes;
  /// may begin a request.
  void offered(std::string_view head, std::size_t taken);
  /// Accounts for bytes that the proxy has sent but that never arrive.
  void swallowed(std::string_view head);
  /// Sends bytes before any request has arrived.
  void speak_first(std::string bytes) { out_ = std::move(bytes), pump(); }
  void reset();
  /// Makes this a parent proxy, which receives the requests for all upstreams.
  void stand_for_all() { is_parent_ = true; }

 private:
  /// A request that has begun to arrive. The first item of coming_ is being read.
  struct Coming {
    Account* account = nullptr;
    unsigned arrival = 0;
    unsigned carried = 0;        ///< number of earlier requests on this connection
    std::uint64_t accepted = 0;  ///< bytes of the request that the proxy has sent
    ResponsePlan plan;
    bool committed = false;
  };

  void begin(Account& account);
  void carry(Account& account);
  void commit(Coming& coming);
  Coming& current() { return coming_.front(); }
  void read();
  void take_body(std::string_view bytes);
  void judge_head();
  void hide_change(const RangeRequest& range, ResponsePlan& plan) const;
  void head_came();
  void request_came();
  void response();
  void pump();
  void go_on_later(Duration wait);
  void response_ended();
  void rest(const ResponsePlan& done);

  const Seed seed_;
  World& world_;
  Faults& faults_;
  Book& book_;
  const Canary canary_;
  std::shared_ptr<Wire> wire_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  Chance pieces_;
  std::optional<Duration> idle_limit_;
  HttpReader reader_;
  std::deque<Coming> coming_;
  unsigned carried_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::string out_;
  After after_ = After::keep;
  std::size_t surplus_ = 0;
  Duration pause_{};
  bool is_parent_ = false;
  /// True if the upstream sends FIN when it has been idle for some time after the current response. A request
  /// may then arrive after the FIN.
  bool current_idles_ = false;
  bool busy_ = false;      ///< a response is being sent
  bool answered_ = false;  ///< the response was sent, but the request may still be arriving
  bool pausing_ = false;
  bool request_whole_ = false;
  bool over_ = false;
  bool finished_ = false;  ///< this end's FIN was sent
};

}  // namespace reprise::simulation
