// Several addresses dialled side by side as HappyEyeballs says: the first connection that stands is kept.
#pragma once

#include <vector>

#include "proxy/net/dial_one.hpp"
#include "proxy/net/happy_eyeballs.hpp"
#include "proxy/net/pause.hpp"

namespace reprise::net {

/// For one use. Nothing is written to a connection here, so that no two can carry a request (row D12).
class DialRace final : public Cancellable {
 public:
  /// Each endpoint, at least one of them, has `limit`.
  DialRace(Loop&, std::vector<tcp::endpoint> endpoints, Duration limit);
  DialRace(const DialRace&) = delete;
  DialRace& operator=(const DialRace&) = delete;

  /// When it ends, every other dial has ended, and its connection is closed. `stop` can stop it.
  Task<Dialled> run(Stop&);
  void cancel() override;
  /// Addresses that were dialled so far.
  std::size_t begun() const { return order_.begun(); }

 private:
  static Task<void> run_one(DialRace&, std::size_t which);
  void ended(std::size_t which, Dialled);
  void stop_all();

  Loop& loop_;
  const std::vector<tcp::endpoint> endpoints_;
  const Duration limit_;
  HappyEyeballs order_;
  Pause pause_;
  std::vector<Stop> stops_;  ///< one for each endpoint
  std::unique_ptr<Stream> standing_;
};

}  // namespace reprise::net
