#include "tests/soak/ledger.hpp"

#include <algorithm>
#include <cstdio>

namespace reprise::soak {
namespace {

constexpr unsigned most_complaints = 12;

std::uint8_t small(unsigned value) { return static_cast<std::uint8_t>(std::min(value, 255U)); }

bool is_retried(int status) { return status == 503 || status == 429; }

}  // namespace

std::uint64_t Ledger::begin() {
  records_.emplace_back();
  return records_.size() - 1;
}

void Ledger::saw(const Plan& plan, unsigned attempt, std::uint64_t head_hash) {
  Record& record = records_[plan.number];
  if (record.seen > 0 && record.head_hash != head_hash) wrong_bytes(plan, "the head of a later attempt");
  const std::uint32_t bit = attempt < 32 ? 1U << attempt : 0;
  if ((record.attempts_seen & bit) != 0) unjust(plan, "attempt " + std::to_string(attempt) + " came twice");
  record.attempts_seen |= bit;
  record.head_hash = head_hash;
  record.seen = std::max(record.seen, small(attempt));
}

void Ledger::took_effect(const Plan& plan) {
  Record& record = records_[plan.number];
  if (record.effects < 255) ++record.effects;
  if (plan.once() && record.effects > 1) complain(plan, "took effect twice");
}

void Ledger::answered_attempt(const Plan& plan, unsigned attempt, int status) {
  ++attempt_statuses_.at(static_cast<std::size_t>(status) / 100);
  if (is_retried(status) && attempt < 32) records_[plan.number].refused_statuses |= 1U << attempt;
}

void Ledger::wrong_bytes(const Plan& plan, std::string_view where) {
  ++corrupted_;
  complain(plan, "wrong bytes in " + std::string(where));
}

void Ledger::end(const Plan& plan, Ending ending, int status, unsigned attempts, std::string_view reason) {
  Record& record = records_[plan.number];
  if (record.ending != Ending::none) unjust(plan, "ended twice");
  record.ending = ending;
  record.status = static_cast<std::uint16_t>(status);
  record.attempts_told = small(attempts);
  if (!reason.empty()) ++reasons_[std::string(reason)];
  ++behaviours_[static_cast<std::size_t>(plan.behaviour)];
}

void Ledger::ends_answered(const Plan& plan, int status, unsigned attempts, std::string_view reason) {
  end(plan, Ending::responded, status, attempts, reason);
}

void Ledger::ends_cut(const Plan& plan, int status, unsigned attempts, std::string_view reason) {
  end(plan, Ending::cut, status, attempts, reason);
}

void Ledger::ends_gone(const Plan& plan, int status, unsigned attempts) {
  end(plan, Ending::gone, status, attempts, "");
}

void Ledger::unjust(const Plan& plan, const std::string& what) {
  ++unjust_;
  complain(plan, what);
}

void Ledger::complain(const Plan& plan, std::string_view what) {
  if (++complaints_ > most_complaints) return;
  const Record& record = records_[plan.number];
  std::string fates;
  for (unsigned attempt = 1; attempt <= std::max<unsigned>(record.seen, 1); ++attempt) {
    fates.append(fates.empty() ? "" : ", ").append(word(fate_of(mix_, plan, attempt)));
  }
  const std::string_view behaviour = word(plan.behaviour);
  std::printf("PROBLEM request %llu, %.*s %s, %llu bytes%s, %.*s: %.*s (attempts: %s)\n",
              static_cast<unsigned long long>(plan.number), static_cast<int>(plan.method.size()),
              plan.method.data(), plan.path().c_str(), static_cast<unsigned long long>(plan.size),
              plan.chunked ? " in chunks" : "", static_cast<int>(behaviour.size()), behaviour.data(),
              static_cast<int>(what.size()), what.data(), fates.c_str());
}

// Returns the number of attempts. Only the upstream counts resumes: the client gets Reprise-Attempts in the
// head, before any resume.
unsigned Ledger::attempts_of(const Record& record) { return std::max(record.attempts_told, record.seen); }

Ledger::Sums Ledger::sums() {
  Sums sums;
  for (std::uint64_t number = 0; number < records_.size(); ++number) {
    const Record& record = records_[number];
    const Plan plan = plan_of(mix_, number);
    sums.effects += record.effects;
    if (plan.once() && record.effects > 1) sums.duplicated += record.effects - 1U;
    if (plan.behaviour == Behaviour::ambiguous) continue;
    ++sums.requests;
    sums.attempts += attempts_of(record);
    if (record.attempts_told > 0) {
      sums.resumes += attempts_of(record) - record.attempts_told;
      for (unsigned attempt = 1; attempt < record.attempts_told; ++attempt) {
        sums.status_retries += record.refused_statuses >> attempt & 1U;
      }
    }
    switch (record.ending) {
      case Ending::none:
        ++sums.lost;
        complain(plan, "never ended");
        break;
      case Ending::responded:
        ++sums.responded;
        ++sums.codes[std::to_string(record.status)];
        break;
      case Ending::cut:
        ++sums.cut;
        if (plan.method == "GET" && plan.validated) ++sums.cut_downloads;
        ++sums.codes["cut"];
        break;
      case Ending::gone:
        ++sums.gone;
        ++sums.codes[record.status == 0 ? "client_gone" : std::to_string(record.status)];
        break;
    }
  }
  return sums;
}

}  // namespace reprise::soak
