// Laws (invariants) of caching name lookups (rows L1, L2): no failed result is cached, and no result is kept
// for long.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// One per story. Each lookup result has its own address, so that a dial identifies the result it uses.
class NameBook {
 public:
  NameBook(World& world, Book& book) : world_(world), book_(book) {}

  /// Returns an address that no other lookup result has.
  asio::ip::address fresh();
  /// Records a lookup that completed now. `address` is the only address that may be dialled; empty if there
  /// are several or none.
  void responded(const std::string& name, std::optional<asio::ip::address> address);
  /// Judges a dial: its address must be from the name's latest lookup, at most ten seconds old, and must not
  /// have failed before.
  void dialled(const asio::ip::address& address, const Dials::Result& result);
  /// Records that the proxy knows that a dial of the address has failed.
  void failed(const asio::ip::address& address);
  /// Makes the address refuse all later dials, because the name has moved to another address.
  void moves(const asio::ip::address& address) { moved_[address.to_string()] = true; }
  bool has_moved(const asio::ip::address& address) const { return moved_.contains(address.to_string()); }
  /// Returns true if a lookup of the name completed at that time, successfully or not.
  bool was_answered(const std::string& name, Instant when) const;

 private:
  struct Response {
    std::string name;
    Instant given;
    std::optional<Instant> failed;  ///< first failed dial of the address
  };

  World& world_;
  Book& book_;
  unsigned addresses_ = 0;
  std::map<std::string, Response> responses_;  ///< keys are addresses
  std::map<std::string, std::vector<Instant>> moments_;
  std::map<std::string, bool> moved_;
};

}  // namespace reprise::simulation
