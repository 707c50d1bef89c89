// The upstream's end of one connection: reads requests, lets them take effect, and plays the responses that
// were drawn for them.
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
  /// The proxy has put bytes on the wire, the first of them at `head` if a request begins with them.
  void offered(std::string_view head, std::size_t taken);
  /// It has put bytes on the wire that will never come.
  void swallowed(std::string_view head);
  /// Says something before it was asked.
  void speak_first(std::string bytes) { out_ = std::move(bytes), pump(); }
  void reset();
  /// It is a parent proxy that stands for every upstream.
  void stand_for_all() { is_parent_ = true; }

 private:
  /// A request that has begun to arrive: the first of them is being read.
  struct Coming {
    Account* account = nullptr;
    unsigned arrival = 0;
    unsigned carried = 0;        ///< requests before it on this connection
    std::uint64_t accepted = 0;  ///< bytes of it that the wire has taken
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
  bool current_idles_ = false;  ///< the FIN that is out came between two requests
  bool busy_ = false;           ///< a response is being given
  bool answered_ = false;       ///< it was, and the request may still be on its way
  bool pausing_ = false;
  bool request_whole_ = false;
  bool over_ = false;
  bool finished_ = false;  ///< our FIN is out
};

}  // namespace reprise::simulation
