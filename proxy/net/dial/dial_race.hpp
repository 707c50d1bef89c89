// Several addresses dialled side by side as HappyEyeballs says: the first connection that stands is kept.
#pragma once

#include <vector>

#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"
#include "proxy/net/dial/happy_eyeballs.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::net {

/// For one use. Nothing is written to a connection here, so that no two can carry a request (row D12).
class DialRace final : public Cancellable {
 public:
  /// At least one endpoint. `time` has begun for all of them, and must outlive the race: once it is over no
  /// other is dialled.
  DialRace(Dialer&, std::vector<tcp::endpoint> endpoints, const ConnectTime& time);
  DialRace(const DialRace&) = delete;
  DialRace& operator=(const DialRace&) = delete;

  /// When it ends, every other dial has ended, and its connection is closed. The argument can stop it.
  Task<Dialled> run(AttemptCancel&);
  void cancel() override;
  /// Addresses that were dialled so far.
  std::size_t begun() const { return order_.begun(); }

 private:
  static Task<void> run_one(DialRace&, std::size_t which);
  void ended(std::size_t which, Dialled);
  void stop_all();

  Dialer& dialer_;
  const std::vector<tcp::endpoint> endpoints_;
  const ConnectTime& time_;
  HappyEyeballs order_;
  Pause pause_;
  std::vector<AttemptCancel> cancels_;  ///< one for each endpoint
  std::unique_ptr<Stream> standing_;
};

}  // namespace reprise::net
