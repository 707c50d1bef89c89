// Laws (invariants) of dialling a name with several addresses (row D12): the dials have the right order, and
// connections that lose the race are closed.
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

/// One object per story. Does not check that each attempt sends its request on only one connection. Book
/// checks this: a request on a second connection would be one more arrival than there were attempts.
class DialBook {
 public:
  DialBook(World& world, Book& book) : world_(world), book_(book) {}

  void set_connect_timeout(Duration limit) { connect_timeout_ = limit; }
  /// Registers and returns a lookup result with several addresses. Precondition: no other result has the same
  /// allowed addresses.
  std::vector<asio::ip::address> expect(std::vector<asio::ip::address> found);
  /// Judges one dial of a race: `order` must hold every allowed address of one name exactly once, and the
  /// address at `which` must be due now.
  void race_dials(std::span<const tcp::endpoint> order, std::size_t which);
  /// Records the dial that race_dials() announced, or a dial outside any race.
  void begin(const asio::ip::address& dialled, const Dials::Result& result);
  /// Judges a new connection: the proxy must write to it or close it within 1 ms.
  void connected(std::weak_ptr<const Wire> wire);

 private:
  struct Entrant {
    std::optional<Instant> begun;
    Instant fails_from{};  ///< earliest time at which the proxy can know that this dial failed
    Instant fails_by{};    ///< latest time at which the proxy knows that this dial failed
  };
  using Race = std::vector<Entrant>;

  bool has_turn(const Race& race, std::size_t place) const;

  World& world_;
  Book& book_;
  Duration connect_timeout_{};
  /// For each address: all allowed addresses of its name, sorted.
  std::map<std::string, std::vector<std::string>> names_;
  /// Newest race for each `order` array; key: the address of this array.
  std::map<const tcp::endpoint*, Race> races_;
  Entrant* dialling_ = nullptr;  ///< entrant whose dial race_dials() announced; null if none
  /// True after a dial failed with EMFILE. The proxy then repeats this dial outside the race.
  bool descriptors_ran_out_ = false;
};

}  // namespace reprise::simulation
