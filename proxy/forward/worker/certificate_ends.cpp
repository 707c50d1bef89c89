#include "proxy/forward/worker/certificate_ends.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace reprise::forward {
namespace {

// The wall clock is polled, because it may jump without a notification.
constexpr Duration look_every = std::chrono::seconds(2);
constexpr Duration look_for_any = std::chrono::minutes(1);

std::string sentence(const net::CertificateEnd& end, std::int64_t now) {
  const std::int64_t left = end.expires - now;
  const std::int64_t days = (left < 0 ? -left : left) / EndingCertificates::day;
  std::string text("the certificate of ");
  text.append(end.name);
  if (left <= 0) {
    text.append(" expired ").append(std::to_string(days)).append(" days ago: ");
  } else {
    text.append(" expires in ").append(std::to_string(days)).append(" days: ");
  }
  return text.append(end.advice);
}

}  // namespace

std::vector<std::string> EndingCertificates::warnings(const std::vector<net::CertificateEnd>& ends,
                                                      std::int64_t now) {
  std::vector<std::string> lines;
  for (const net::CertificateEnd& end : ends) {
    if (end.expires - now >= warned_before) {
      warned_.erase(end.name);
      continue;
    }
    const auto [last, is_first] = warned_.try_emplace(end.name, now);
    const std::int64_t since = now - last->second;
    if (!is_first && since >= 0 && since < day) continue;
    last->second = now;
    lines.push_back(sentence(end, now));
  }
  return lines;
}

void set_certificate_gauges(telemetry::Metrics& metrics, const std::vector<net::CertificateEnd>& ends,
                            std::int64_t now) {
  for (const auto use : {telemetry::CertificateUse::authority, telemetry::CertificateUse::client}) {
    std::optional<std::int64_t> left;
    for (const net::CertificateEnd& end : ends) {
      if (end.use == use) left = std::min(left.value_or(end.expires - now), end.expires - now);
    }
    metrics.set_certificate_left(use, left);
  }
}

Task<void> warn_of_certificate_ends(Worker& worker) {
  EndingCertificates ending;
  net::Timer pause(worker.io);
  for (;;) {
    const std::vector<net::CertificateEnd>& ends = worker.snapshot->certificate_ends;
    const std::int64_t wall = net::Clock::wall_nanoseconds();
    for (const std::string& line : ending.warnings(ends, wall / 1'000'000'000))
      worker.shared.log.message(config::LogLevel::warn, line, wall);
    pause.expires_after(ends.empty() ? look_for_any : look_every);
    if (const auto [error] = co_await pause.async_wait(as_result); error) co_return;
  }
}

}  // namespace reprise::forward
