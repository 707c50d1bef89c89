// Tests what a snapshot takes over from the previous one, and the messages if it cannot be built completely.
#include "proxy/server/process/snapshot_builder.hpp"

#include "proxy/server/intercept/authority_files.hpp"
#include "tests/support/log_file.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/running_proxy.hpp"

namespace reprise::server {
namespace {

constexpr std::int64_t day = 24 * 3600;

std::int64_t today() { return net::Clock::wall_nanoseconds() / 1'000'000'000; }

std::shared_ptr<const Authority> made_at(std::int64_t when) {
  PrivateKey key = Authority::make_key();
  Certificate certificate = Authority::certify(key.get(), {{"api.test"}, {"*.wild.test"}}, when);
  return std::make_shared<const Authority>(std::move(certificate), std::move(key));
}

config::Settings intercepting(const std::string& host) {
  config::Settings settings = play::whole({});
  settings.intercept.emplace();
  settings.intercept->hosts = {{host}};
  return settings;
}

/// A SnapshotBuilder with the metrics and the log that it needs.
class Building {
 public:
  explicit Building(std::shared_ptr<const Authority> authority)
      : metrics_(net::make_metrics()),
        log_(std::make_unique<telemetry::Log>(config::Log{}, std::vector<std::string>{"default"},
                                              file_.descriptor(), telemetry::LogReader::stream)),
        builder_(*metrics_, *log_, std::move(authority), "reprise.yaml") {}
  ~Building() { builder_.stop(); }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;

  std::shared_ptr<const net::Snapshot> build(config::Settings settings, const net::Snapshot* before) {
    return builder_.build(std::move(settings), {}, before);
  }
  /// Ends the log and returns its text. Precondition: build() is not called afterwards.
  std::string logged() {
    log_.reset();
    return file_.text();
  }

 private:
  play::LogFile file_;
  std::unique_ptr<telemetry::Metrics> metrics_;
  std::unique_ptr<telemetry::Log> log_;
  SnapshotBuilder builder_;
};

bool says(const std::string& log, std::string_view words) { return log.find(words) != std::string::npos; }

TEST(SnapshotBuilder, certificates_are_reused_while_their_settings_stay_the_same) {
  Building world(made_at(today()));
  const auto first = world.build(intercepting("api.test"), nullptr);
  ASSERT_NE(first->client_tls, nullptr);
  const auto same = world.build(intercepting("api.test"), first.get());
  EXPECT_EQ(same->client_tls, first->client_tls);
  const auto other = world.build(intercepting("*.wild.test"), same.get());
  EXPECT_NE(other->client_tls, first->client_tls);
  ASSERT_EQ(other->client_tls->hosts().size(), 1U);
  EXPECT_EQ(other->client_tls->hosts().front().text, "*.wild.test");
  EXPECT_EQ(world.build(play::whole({}), other.get())->client_tls, nullptr);
}

// If a listener fails to open after a snapshot was built, the snapshot is never applied.
TEST(SnapshotBuilder, snapshot_is_built_from_the_running_one_and_not_from_one_that_was_never_applied) {
  Building world(made_at(today()));
  const auto running = world.build(intercepting("api.test"), nullptr);
  static_cast<void>(world.build(intercepting("*.wild.test"), running.get()));
  const auto again = world.build(intercepting("*.wild.test"), running.get());
  ASSERT_EQ(again->client_tls->hosts().size(), 1U);
  EXPECT_EQ(again->client_tls->hosts().front().text, "*.wild.test");
}

// The warnings about this expiry are tested in certificate_ends_test.
TEST(SnapshotBuilder, N12_snapshot_knows_when_the_certificate_authority_expires) {
  const std::int64_t now = today();
  const std::int64_t life = made_at(now)->expires() - now;
  Building world(made_at(now - life + 10 * day + 3600));
  const auto snapshot = world.build(intercepting("api.test"), nullptr);
  ASSERT_EQ(snapshot->certificate_ends.size(), 1U);
  EXPECT_EQ(snapshot->certificate_ends.front().name, "intercept.ca");
  EXPECT_EQ((snapshot->certificate_ends.front().expires - now) / day, 10);
  EXPECT_TRUE(world.build(play::whole({}), nullptr)->certificate_ends.empty());
}

TEST(SnapshotBuilder, error_names_the_configuration_key_of_an_unwritable_bundle) {
  Building world(made_at(today()));
  config::Settings settings = intercepting("api.test");
  settings.intercept->bundle = "/dev/null/bundle.pem";
  try {
    static_cast<void>(world.build(settings, nullptr));
    FAIL() << "it was written";
  } catch (const InterceptError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("intercept.bundle: ")) << error.what();
  }
}

TEST(SnapshotBuilder, open_file_limit_lowers_the_connection_limit_and_is_logged) {
  Building world(nullptr);
  config::Settings settings = play::whole({});
  settings.limits.connections = 1;
  EXPECT_EQ(world.build(settings, nullptr)->most_clients, 1U);
  settings.limits.connections = std::size_t{1} << 40U;
  EXPECT_LT(world.build(settings, nullptr)->most_clients, settings.limits.connections);
  const std::string log = world.logged();
  EXPECT_TRUE(says(log, "limits.connections is lowered from 1099511627776 to ")) << log;
}

}  // namespace
}  // namespace reprise::server
