// Dials several addresses in parallel as HappyEyeballs decides, and keeps the first established connection.
#pragma once

#include <vector>

#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"
#include "proxy/net/dial/happy_eyeballs.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::net {

/// Runs one race between dials. Writes nothing to any connection, so that no two connections can carry the
/// request (row D12).
class DialRace final : public Cancellable {
 public:
  /// Preconditions: there is at least one endpoint; `time.dialling` was called; `time` outlives the race. No
  /// further dial starts once the time limit in `time` is reached.
  DialRace(Dialer&, std::vector<tcp::endpoint> endpoints, const ConnectTime& time);
  DialRace(const DialRace&) = delete;
  DialRace& operator=(const DialRace&) = delete;

  /// Returns the result of the race. All other dials have ended by then, and their connections are closed. A
  /// cancel through AttemptCancel ends the race.
  Task<Dialled> run(AttemptCancel&);
  void cancel() override;
  /// Returns how many addresses were dialled so far.
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
  std::unique_ptr<Stream> winner_;
};

}  // namespace reprise::net
