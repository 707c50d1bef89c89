// Tests the presets for gRPC calls: which calls they repeat, after what, and how they combine with others.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/pacing/dice.hpp"
#include "tests/config/asking.hpp"
#include "tests/support/script.hpp"

namespace reprise::config::preset_grpc_test {
namespace {

using namespace std::chrono_literals;
using policy::Cause;
using policy::Failed;
using policy::GrpcStatus;
using policy::Outcome;
using policy::Responded;
using policy::Sent;
using policy::Stage;

Responded ended(GrpcStatus status) {
  Responded response{200, {}};
  response.grpc = status;
  return response;
}

policy::Verdict verdict(const Settings& settings, const Asked& request, const Outcome& outcome) {
  policy::Attempt attempt;
  const auto* failed = std::get_if<Failed>(&outcome);
  attempt.sent = failed != nullptr && failed->stage < Stage::send ? Sent::nothing : Sent::maybe;
  const policy::Facts facts{request.verdict(settings)};
  play::LoadedDice dice = play::LoadedDice::highest();
  return policy::decide(facts, attempt, outcome, request.route(settings).policy, {}, std::nullopt, dice, 1e9);
}

struct Row {
  Asked request;
  Outcome outcome;
  bool retried;
};

TEST(PresetGrpc, M114_only_health_checks_and_reflection_are_repeated_once_they_were_sent) {
  const Settings grpc = settings_of("presets: [grpc]\n");
  const Asked health = call("a/grpc.health.v1.Health/Check");
  const Asked reflection = call("b/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  const Asked any = call("c/shop.Orders/Pay");
  const Failed lost{Stage::await_head, Cause::reset};
  const std::vector<Row> table{{health, ended(GrpcStatus::unavailable), true},
                               {health, Responded{503, {}}, true},
                               {health, Responded{429, {}}, false},
                               {health, lost, true},
                               {health, ended(GrpcStatus::internal), false},
                               {health, ended(GrpcStatus::resource_exhausted), false},
                               {call("a/grpc.health.v1.Health/Watch"), ended(GrpcStatus::unavailable), false},
                               {reflection, ended(GrpcStatus::unavailable), true},
                               {any, ended(GrpcStatus::unavailable), false},
                               {any, lost, false},
                               {any, Failed{Stage::connect, Cause::refused}, true},
                               {any, Failed{Stage::tls, Cause::closed}, true}};
  for (const Row& row : table)
    EXPECT_EQ(verdict(grpc, row.request, row.outcome).retry, row.retried)
        << row.request.path << " " << outcome_label(row.outcome);
  EXPECT_EQ(any.route(grpc).name, "grpc/rest");
  EXPECT_EQ(Asked("POST", "c/shop.Orders/Pay").route(grpc).name, "default");
  EXPECT_EQ(call("a/grpc.reflection.v1.ServerReflection/ServerReflectionInfo").route(grpc).name,
            "grpc/reflection");
}

TEST(PresetGrpc, M114_four_attempts_wait_from_100_ms_to_2_s) {
  const Settings grpc = settings_of("presets: [grpc]\n");
  const auto& retry = call("a/shop.Orders/Pay").route(grpc).policy.retry;
  EXPECT_EQ(retry.max_attempts, 4U);
  EXPECT_EQ(retry.backoff.initial, 100ms);
  EXPECT_EQ(retry.backoff.multiplier, 2);
  EXPECT_EQ(retry.backoff.maximum, 2s);
  EXPECT_EQ(retry.backoff.jitter, policy::Jitter::equal);
  EXPECT_EQ(verdict(grpc, call("a/grpc.health.v1.Health/Check"), ended(GrpcStatus::unavailable)).delay,
            100ms);
}

TEST(PresetGoogleGrpc, M115_methods_that_only_read_are_repeated) {
  const Settings google = settings_of("presets: [google-grpc]\n");
  const std::string spanner = "spanner.googleapis.com/google.spanner.v1.Spanner/";
  const auto unavailable = ended(GrpcStatus::unavailable);
  for (const char* read : {"GetSession", "ListSessions", "BatchGetDocuments", "SearchAll"}) {
    EXPECT_TRUE(verdict(google, call(spanner + read), unavailable).retry) << read;
    EXPECT_FALSE(verdict(google, call(spanner + read), ended(GrpcStatus::resource_exhausted)).retry) << read;
    EXPECT_FALSE(verdict(google, call(spanner + read), ended(GrpcStatus::deadline_exceeded)).retry) << read;
  }
  for (const char* write : {"Commit", "CreateSession", "BatchWrite", "ForgetGet"}) {
    EXPECT_FALSE(verdict(google, call(spanner + write), unavailable).retry) << write;
    EXPECT_TRUE(verdict(google, call(spanner + write), Failed{Stage::connect, Cause::refused}).retry)
        << write;
  }
  const policy::RoutePolicy& route = call(spanner + "Commit").route(google).policy;
  EXPECT_EQ(route.http2, policy::UseHttp2::always);
  EXPECT_TRUE(route.tls.originate);
  EXPECT_EQ(call("spanner.internal/google.spanner.v1.Spanner/GetSession").route(google).name, "default");
}

TEST(PresetGoogleGrpc, M115_hosts_can_be_replaced) {
  const Settings moved = settings_of("presets: [{name: google-grpc, hosts: [localhost]}]\n");
  const Asked read = call("localhost/google.spanner.v1.Spanner/GetSession");
  EXPECT_EQ(read.route(moved).name, "google-grpc/reads");
  EXPECT_FALSE(read.route(moved).policy.tls.originate);
  EXPECT_EQ(read.route(moved).policy.http2, policy::UseHttp2::always);
  EXPECT_EQ(call("spanner.googleapis.com/google.spanner.v1.Spanner/GetSession").route(moved).name, "default");
}

TEST(PresetGoogleGrpc, M115_each_of_two_presets_gets_its_own_requests_in_any_order) {
  const Asked object = call("storage.googleapis.com/google.storage.v2.Storage/GetObject");
  const Asked json("GET", "storage.googleapis.com/storage/v1/b/p/o/x");
  for (const std::string order :
       {"gcs, google-grpc, grpc", "grpc, google-grpc, gcs", "grpc, gcs, google-grpc"}) {
    const Settings settings = settings_of("presets: [" + order + "]\n");
    EXPECT_EQ(object.route(settings).name, "google-grpc/reads") << order;
    EXPECT_EQ(call("shop.internal/shop.Catalog/GetItem").route(settings).name, "grpc/rest") << order;
    EXPECT_EQ(json.route(settings).name, "gcs/any.get") << order;
  }
  const Settings own = settings_of(
      "presets: [google-grpc]\nroutes: [{name: mine, match: {host: '*.googleapis.com'}, "
      "tls: originate}]\n");
  EXPECT_EQ(object.route(own).name, "mine") << "routes of the file come first";
}

}  // namespace
}  // namespace reprise::config::preset_grpc_test
