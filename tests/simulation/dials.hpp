// The laws of dialling names with several addresses (row D12): whose turn it is, and that losers are let go.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
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
  std::vector<asio::ip::address> expect(std::vector<asio::ip::address> found);
  /// Judges the order: every allowed address of one name, once. Judges the moment: now is its turn.
  void race_dials(std::span<const tcp::endpoint> order, std::size_t which);
  /// The dial that `race_dials` has told of, or one beside any race.
  void begin(const asio::ip::address& dialled, const Dials::Result& result);
  /// Judges what the proxy does with it: it speaks at once, or lets go at once.
  void connected(std::weak_ptr<const Wire> wire);

 private:
  struct Entrant {
    std::optional<Instant> begun;
    Instant fails_from{};  ///< no failure of it is known sooner
    Instant fails_by{};    ///< nor later
  };
  using Race = std::vector<Entrant>;

  bool has_turn(const Race& race, std::size_t place) const;

  World& world_;
  Book& book_;
  Duration connect_timeout_{};
  std::map<std::string, std::vector<std::string>> names_;  ///< by address: all of its name, sorted
  std::map<const tcp::endpoint*, Race> races_;  ///< by where their order stands, the newest of each place
  Entrant* dialling_ = nullptr;                 ///< in one of them
  bool descriptors_ran_out_ = false;            ///< so far: what met that is dialled again
};

}  // namespace reprise::simulation
