// The laws of remembering what names resolve to (rows L1, L2): nothing that has failed, and nothing for long.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/book.hpp"
#include "tests/simulation/wire.hpp"

namespace reprise::simulation {

/// One per story. Every response has an address of its own, so that a dial tells which one was used.
class NameBook {
 public:
  NameBook(World& world, Book& book) : world_(world), book_(book) {}

  /// An address that no other answer has.
  asio::ip::address fresh();
  /// The name was answered now; `address` is the one that may be dialled, where there is only one.
  void responded(const std::string& name, std::optional<asio::ip::address> address);
  /// Judges the moment: the address is of the name's last response, not old, and has not failed before.
  void dialled(const asio::ip::address& address, const Dials::Result& result);
  /// From now on that address refuses: the name has moved.
  void moves(const asio::ip::address& address) { moved_[address.to_string()] = true; }
  bool has_moved(const asio::ip::address& address) const { return moved_.contains(address.to_string()); }
  /// Whether the name was answered, well or not, at that moment.
  bool was_answered(const std::string& name, Instant when) const;

 private:
  struct Response {
    std::string name;
    Instant given;
    std::optional<Instant> failed;  ///< a dial of it, at once
  };

  World& world_;
  Book& book_;
  unsigned addresses_ = 0;
  std::map<std::string, Response> responses_;  ///< by address
  std::map<std::string, std::vector<Instant>> moments_;
  std::map<std::string, bool> moved_;
};

}  // namespace reprise::simulation
