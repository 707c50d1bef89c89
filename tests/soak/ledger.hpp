// What happened to each request, as both ends saw it, and the sums that reprise's own counters must equal.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/soak/plan.hpp"

namespace reprise::soak {

/// How a request ended for its client. At the end of a soak, no request may have `none`.
enum class Ending : std::uint8_t { none, responded, cut, gone };

/// What is known about one request.
struct Record {
  /// Hash of the request head at the upstream, except the fields that differ between attempts.
  std::uint64_t head_hash = 0;
  std::uint32_t attempts_seen = 0;     ///< bit n: the upstream saw attempt n
  std::uint32_t refused_statuses = 0;  ///< bit n: attempt n got a status that is retried
  std::uint16_t status = 0;            ///< status of the response; 0: no head was received
  std::uint8_t seen = 0;               ///< highest attempt that the upstream saw
  std::uint8_t attempts_told = 0;      ///< value of Reprise-Attempts in the response
  std::uint8_t effects = 0;            ///< how often the request took effect
  Ending ending = Ending::none;
};

/// The records of all requests. The clients and the upstream write them; all of them share one thread.
class Ledger {
 public:
  explicit Ledger(const Mix& mix) : mix_(mix) {}
  const Mix& mix() const { return mix_; }

  /// Adds the record of the next request. Returns its number.
  std::uint64_t begin();
  Record& operator[](std::uint64_t number) { return records_[number]; }
  std::uint64_t size() const { return records_.size(); }

  // The upstream calls the following functions.
  void saw(const Plan&, unsigned attempt, std::uint64_t head_hash);
  void played(Fate fate) { ++fates_[static_cast<std::size_t>(fate)]; }
  void refused_at_accept() { ++accept_resets_; }
  void took_effect(const Plan&);
  void answered_attempt(const Plan&, unsigned attempt, int status);
  void broke_body() { ++broken_bodies_; }
  void wrong_bytes(const Plan&, std::string_view where);

  // The clients call the following functions.
  void ends_answered(const Plan&, int status, unsigned attempts, std::string_view reason);
  void ends_cut(const Plan&, int status, unsigned attempts, std::string_view reason);
  void ends_gone(const Plan&, int status, unsigned attempts);
  void rejected() { ++rejected_; }
  void tunnelled() { ++tunnels_; }
  /// Reports an outcome that no planned fault explains. The first few reports are printed.
  void unjust(const Plan&, const std::string& what);

  struct Sums {
    std::uint64_t requests = 0, responded = 0, cut = 0, gone = 0, lost = 0;
    std::uint64_t attempts = 0, status_retries = 0, resumes = 0;
    std::uint64_t cut_downloads = 0;  ///< cut GETs: some of their resumes may not have reached the upstream
    std::uint64_t effects = 0, duplicated = 0;
    std::map<std::string, std::uint64_t> codes;
  };
  /// Sums up all records. Call once, when all requests have ended.
  Sums sums();

  const std::array<std::uint64_t, fate_count>& fates() const { return fates_; }
  const std::array<std::uint64_t, behaviour_count>& behaviours() const { return behaviours_; }
  const std::map<std::string, std::uint64_t, std::less<>>& reasons() const { return reasons_; }
  const std::array<std::uint64_t, 6>& statuses_of_attempts() const { return attempt_statuses_; }
  std::uint64_t broken_bodies() const { return broken_bodies_; }
  std::uint64_t accept_resets() const { return accept_resets_; }
  std::uint64_t rejections() const { return rejected_; }
  std::uint64_t tunnels() const { return tunnels_; }
  std::uint64_t corrupted() const { return corrupted_; }
  std::uint64_t unjust() const { return unjust_; }

 private:
  void end(const Plan&, Ending, int status, unsigned attempts, std::string_view reason);
  void complain(const Plan&, std::string_view what);
  static unsigned attempts_of(const Record&);

  const Mix mix_;
  std::vector<Record> records_;
  std::array<std::uint64_t, fate_count> fates_{};
  std::array<std::uint64_t, behaviour_count> behaviours_{};
  /// Number of responses to attempts, by the first digit of their status.
  std::array<std::uint64_t, 6> attempt_statuses_{};
  std::map<std::string, std::uint64_t, std::less<>> reasons_;
  std::uint64_t broken_bodies_ = 0, accept_resets_ = 0, rejected_ = 0, tunnels_ = 0, corrupted_ = 0,
                unjust_ = 0;
  unsigned complaints_ = 0;
};

}  // namespace reprise::soak
