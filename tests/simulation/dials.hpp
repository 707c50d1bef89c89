// The laws of dialling names with several addresses (row D12): whose turn it is, and that losers are let go.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// One per story. That no two connections carry one attempt's request is the book's to count: there would be
/// more arrivals than attempts.
class DialBook {
 public:
  DialBook(World& world, Book& book) : world_(world), book_(book) {}

  void set_connect_timeout(Duration limit) { connect_timeout_ = limit; }
  /// A name's answer, which shares no allowed address with any other: gives it back.
  std::vector<net::asio::ip::address> expect(std::vector<net::asio::ip::address> found);
  /// Judges the moment: now is that address's turn.
  void begin(const net::asio::ip::address& dialled, const Dials::Result& result);
  /// Judges what the proxy does with it: it speaks at once, or lets go at once.
  void connected(std::weak_ptr<const Wire> wire);

 private:
  struct Dialled {
    Instant begun;
    Instant fails_from;  ///< no failure of it is known sooner
    Instant fails_by;    ///< nor later
  };
  struct Known {
    std::string before;  ///< whose turn comes first; empty: nobody's
    std::vector<Dialled> dials;
  };

  bool has_turn(const Known& address) const;

  World& world_;
  Book& book_;
  Duration connect_timeout_{};
  std::map<std::string, Known> addresses_;
};

}  // namespace reprise::simulation
