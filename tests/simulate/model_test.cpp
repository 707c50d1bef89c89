#include <gtest/gtest.h>

#include <string>

#include "proxy/tools/simulate/model/model_file.hpp"
#include "proxy/tools/simulate/model/model_keys.hpp"
#include "proxy/tools/simulate/model/values.hpp"

namespace reprise::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string complaint(std::string_view key, std::string_view text) {
  Model model;
  return find_model_key(key)->put(model, text).value_or("");
}

Model with(std::string_view key, std::string_view text) {
  Model model;
  const ModelKey* known = find_model_key(key);
  if (known->repeats) known->clear(model);
  EXPECT_EQ(known->put(model, text), std::nullopt) << key << ' ' << text;
  return model;
}

/// Reads the model and returns every problem, one a line, with `m` as the file name.
std::string problems(std::string_view text, Model* model = nullptr) {
  Model own;
  config::Report report;
  read_model(text, model == nullptr ? own : *model, report);
  std::string all;
  for (const config::Problem& problem : report.take()) all += config::to_line(problem, "m") + "\n";
  return all;
}

TEST(ModelKeys, model_keys_accept_their_documented_values) {
  EXPECT_EQ(with("rate", "2.5/s").rate, 2.5);
  EXPECT_EQ(with("duration", "5m").duration, seconds(300));
  EXPECT_EQ(with("arrivals", "even").arrivals, Arrivals::even);
  EXPECT_EQ(with("arrivals", "poisson").arrivals, Arrivals::poisson);
  EXPECT_EQ(with("clients", "7").clients, 7U);
  EXPECT_EQ(with("patience", "10s").patience, seconds(10));
  EXPECT_EQ(with("patience", "unlimited").patience, std::nullopt);
  EXPECT_EQ(with("capacity", "12").capacity, 12U);
  EXPECT_EQ(with("capacity", "unlimited").capacity, std::nullopt);
  EXPECT_EQ(with("queue", "0").queue, 0U);
  EXPECT_EQ(with("refusal", "0").refusal, Duration::zero());
  EXPECT_EQ(with("limit", "none").limit, std::nullopt);
  EXPECT_EQ(with("limit", "50/s").limit->retry_after, std::nullopt);
  EXPECT_EQ(with("limit", "50/s:retry-after=2s").limit->retry_after, seconds(2));
  EXPECT_EQ(with("burst", "20s+1000").bursts.at(0).requests, 1000U);
  EXPECT_TRUE(with("outage", "none").outages.empty());
  EXPECT_TRUE(with("error", "none").errors.empty());
  EXPECT_EQ(with("error", "5%").errors.at(0).trouble.word, "503");
  for (const ModelKey& key : model_keys()) EXPECT_FALSE(key.sentence.empty());
  EXPECT_EQ(find_model_key("rates"), nullptr);
}

TEST(ModelKeys, latency_is_printed_in_the_form_in_which_it_is_parsed) {
  for (const char* text : {"fixed:50ms", "uniform:10ms,90ms", "exp:50ms", "lognormal:50ms,0.5"}) {
    EXPECT_EQ(latency_text(with("latency", text).latency), text);
  }
  EXPECT_EQ(latency_text(with("latency", "70ms").latency), "fixed:70ms");
}

TEST(ModelKeys, outage_has_a_start_and_a_length_and_a_kind_of_failure) {
  const Outage outage = with("outage", "10s+5s:hang").outages.at(0);
  EXPECT_EQ(outage.from, std::chrono::seconds(10));
  EXPECT_EQ(outage.length, std::chrono::seconds(5));
  EXPECT_EQ(outage.trouble.word, "hang");
}

TEST(ModelKeys, simulated_error_is_a_status_or_a_network_failure) {
  EXPECT_TRUE(with("outage", "1s+1s:hang").outages.at(0).trouble.hangs);
  for (const auto& [word, stage] :
       {std::pair{"refused", policy::Stage::connect}, std::pair{"tls", policy::Stage::tls},
        std::pair{"reset", policy::Stage::await_head}}) {
    const Model model = with("error", std::string("1%:") + word);
    EXPECT_EQ(std::get<policy::Failed>(model.errors.at(0).trouble.outcome).stage, stage);
  }
  EXPECT_EQ(std::get<policy::Responded>(with("error", "1%:429").errors.at(0).trouble.outcome).status, 429);
}

TEST(ModelKeys, M111_request_mix_may_have_grpc_calls) {
  const RequestKind kind = with("mix", "GRPC shop.Catalog/GetItem x-key:7 25%").mix.at(0);
  EXPECT_TRUE(kind.call);
  EXPECT_EQ(kind.method, "POST");
  EXPECT_EQ(kind.path, "/shop.Catalog/GetItem");
  EXPECT_EQ(kind.fields.size(), 2U);
  const RequestKind at_host = with("mix", "GRPC http://a.example:50051/shop.Catalog/GetItem 1").mix.at(0);
  EXPECT_EQ(at_host.path, kind.path);
  EXPECT_EQ(at_host.port, 50051);
  for (const char* bad : {"GRPC 1", "GRPC GetItem 1", "GRPC shop.Catalog/* 1", "GRPC http://a.example 1"})
    EXPECT_NE(complaint("mix", bad).find("names no method of gRPC"), std::string::npos) << bad;
}

TEST(ModelKeys, M111_troubles_may_be_statuses_of_grpc) {
  Model model = with("error", "1%:grpc-unavailable");
  const auto& responded = std::get<policy::Responded>(model.errors.at(0).trouble.outcome);
  EXPECT_EQ(responded.status, 200);
  EXPECT_EQ(responded.grpc, policy::GrpcStatus::unavailable);
  EXPECT_NE(complaint("error", "1%:grpc-ok").find("write one of grpc-cancelled, "), std::string::npos);
  EXPECT_NE(complaint("outage", "1s+1s:grpc-broken").find("is not a failure of a gRPC call"),
            std::string::npos);

  ASSERT_TRUE(contradiction(model)) << "a GET cannot end with a status of gRPC";
  EXPECT_EQ(contradiction(model)->key, "error");
  model.mix = with("mix", "GRPC shop.Catalog/GetItem 100%").mix;
  EXPECT_FALSE(contradiction(model));
}

TEST(ModelKeys, request_mix_has_method_url_and_fields) {
  const RequestKind kind = with("mix", "POST https://a.example/v1/x?q=1 Idempotency-Key:7 25%").mix.at(0);
  EXPECT_EQ(kind.method, "POST");
  EXPECT_EQ(kind.host, "a.example");
  EXPECT_EQ(kind.port, 443);
  EXPECT_EQ(kind.path, "/v1/x");
  EXPECT_EQ(kind.query, "q=1");
  EXPECT_EQ(kind.fields.at(0).second, "7");
  EXPECT_EQ(kind.share, 0.25);
  EXPECT_EQ(with("mix", "GET http://b.example:8080 1").mix.at(0).port, 8080);
  EXPECT_EQ(with("mix", "GET http://b.example 1").mix.at(0).path, "/");
  EXPECT_TRUE(with("mix", "CONNECT 100%").mix.at(0).tunnel);
}

TEST(ModelKeys, invalid_values_are_rejected_with_a_suggestion) {
  const std::vector<std::array<std::string_view, 3>> rows{
      {"rate", "12", "has no unit"},
      {"rate", "2000000/s", "at most 1000000/s"},
      {"duration", "0", "is out of range: from 100ms to 168h"},
      {"duration", "x", "is not a duration"},
      {"arrivals", "odd", "is not an arrival pattern: write poisson or even"},
      {"clients", "0", "is out of range: from 1 to 10000"},
      {"clients", "many", "is not a whole number"},
      {"patience", "0", "is out of range"},
      {"capacity", "0", "or unlimited"},
      {"latency", "x", "is not a latency: write"},
      {"latency", "lognormal:50ms", "needs sigma after a comma"},
      {"latency", "lognormal:50ms,9", "needs sigma after a comma"},
      {"latency", "lognormal:0,1", "must be more than 0"},
      {"latency", "uniform:10ms", "is not a latency"},
      {"latency", "uniform:10ms,x", "has a part \"x\""},
      {"latency", "uniform:10ms,5ms", "has a maximum below its minimum"},
      {"latency", "gauss:10ms", "is not a latency"},
      {"latency", "exp:10ms,2", "is not a latency"},
      {"latency", "fixed:200h", "is too long"},
      {"outage", "10s", "is not an outage: write its start"},
      {"outage", "x+1s", "has a part \"x\""},
      {"outage", "1s+0", "must be more than 0"},
      {"outage", "1s+1s:200", "is not a failure"},
      {"outage", "1s+1s:bang", "is not a failure"},
      {"error", "120%", "is more than 100%"},
      {"error", "x", "is not a ratio"},
      {"error", "1%:x", "is not a failure"},
      {"limit", "5", "has no unit"},
      {"limit", "0/s", "lets no request through"},
      {"limit", "5/s:x", "write retry-after=2s"},
      {"limit", "5/s:retry-after=x", "has a part \"x\""},
      {"burst", "5s", "is not a burst"},
      {"burst", "5s+0", "is not a burst"},
      {"burst", "x+5", "has a part \"x\""},
      {"mix", "GET", "is not a part of a mix"},
      {"mix", "get 5%", "is not a method"},
      {"mix", "GET x", "is not a ratio"},
      {"mix", "GET ftp://x/ 5%", "is not a URL"},
      {"mix", "GET http:///x 5%", "has no host"},
      {"mix", "GET http://a:0/ 5%", "is not a port"},
  };
  for (const auto& [key, text, wanted] : rows)
    EXPECT_NE(complaint(key, text).find(wanted), std::string::npos)
        << key << ' ' << text << ": " << complaint(key, text);
}

TEST(ModelKeys, number_of_values_in_a_list_of_the_model_is_limited) {
  Model model;
  const ModelKey* key = find_model_key("error");
  key->clear(model);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(key->put(model, "0.1%"), std::nullopt);
  EXPECT_NE(key->put(model, "0.1%"), std::nullopt);
}

TEST(Model, default_model_is_valid_and_contradictory_models_are_rejected) {
  const auto why = [](auto change) {
    Model model;
    change(model);
    const auto impossible = contradiction(model);
    return impossible ? impossible->key + ": " + impossible->why : std::string();
  };
  EXPECT_EQ(why([](Model&) {}), "");
  EXPECT_EQ(why([](Model& m) { m.rate = 1e6; }).substr(0, 25), "duration: about 60000000 ");
  EXPECT_EQ(why([](Model& m) { m.rate = 0; }).substr(0, 32), "rate: no request would arrive: r");
  EXPECT_EQ(why([](Model& m) { m.bursts = {{seconds(60), 1}}; }).substr(0, 20), "burst: the burst at ");
  EXPECT_EQ(why([](Model& m) {
              m.outages = {{seconds(60), seconds(1), {}}};
            }).substr(0, 22),
            "outage: the outage at ");
  EXPECT_EQ(why([](Model& m) {
              m.outages = {{seconds(9), seconds(2), {}}, {seconds(8), seconds(2), {}}};
            }),
            "outage: the outage at 9s begins before the previous outage ends: make them one outage");
  EXPECT_EQ(why([](Model& m) {
              m.errors = {{0.6, {}}, {0.5, {}}};
            }),
            "error: the shares add up to more than 100%");
  EXPECT_EQ(why([](Model& m) { m.mix.resize(2); }), "mix: the shares add up to 2, not to 100%");
}

TEST(ModelFile, model_file_accepts_the_names_of_the_command_line_options_as_keys) {
  Model model;
  EXPECT_EQ(
      problems("version: 1\nseed: 9\nrate: 20/s\nclients: 3\noutage: [1s+1s, 5s+1s:refused]\nerror: none\n"
               "mix:\n  - GET 90%\n  - POST http://a/b 10%\n",
               &model),
      "");
  EXPECT_EQ(model.seed, 9U);
  EXPECT_EQ(model.rate, 20);
  EXPECT_EQ(model.clients, 3U);
  EXPECT_EQ(model.outages.size(), 2U);
  EXPECT_TRUE(model.errors.empty());
  EXPECT_EQ(model.mix.at(1).host, "a");
}

std::string fault_of(const ModelArguments& given, std::string_view text) {
  const auto model = model_of(given, text);
  const auto* fault = std::get_if<ModelFault>(&model);
  return fault == nullptr ? "none" : std::string(fault->in_file ? "file " : "option ") + fault->lines.at(0);
}

TEST(ModelFile, command_line_options_override_the_model_file) {
  ModelArguments given;
  given.file = "m";
  given.values["rate"] = {"70/s"};
  given.values["outage"] = {"1s+1s", "3s+1s"};
  given.values["clients"] = {};
  given.seed = "9";
  const auto model = std::get<Model>(model_of(given, "version: 1\nrate: 50/s\nclients: 7\n"));
  EXPECT_EQ(model.rate, 70);
  EXPECT_EQ(model.outages.size(), 2U);
  EXPECT_EQ(model.clients, 7U);
  EXPECT_EQ(model.seed, 9U);
  EXPECT_EQ(std::get<Model>(model_of({}, "")).clients, Model{}.clients);
}

TEST(ModelFile, default_outage_fits_every_duration) {
  const auto outage = [](const char* duration) {
    ModelArguments given;
    given.values["duration"] = {duration};
    given.values["rate"] = {"500/s"};
    const auto model = std::get<Model>(model_of(given, ""));
    return std::pair(model.outages.at(0).from, model.outages.at(0).length);
  };
  EXPECT_EQ(outage("60s"), std::pair(Duration(seconds(15)), Duration(seconds(2))));
  EXPECT_EQ(outage("17s"), std::pair(Duration(seconds(15)), Duration(seconds(2))));
  EXPECT_EQ(outage("12s"), std::pair(Duration(seconds(3)), Duration(milliseconds(400))));
  EXPECT_EQ(outage("100ms"), std::pair(Duration(milliseconds(25)), Duration(milliseconds(3))));
}

TEST(ModelFile, outage_that_was_given_is_never_moved) {
  ModelArguments given;
  given.values["duration"] = {"5s"};
  EXPECT_EQ(std::get<Model>(model_of(given, "")).outages.at(0).from, milliseconds(1250));
  given.values["outage"] = {"15s+2s"};
  EXPECT_EQ(fault_of(given, "").substr(0, 62),
            "option reprise simulate: --outage: the outage at 15s begins af");
  given.values["outage"] = {"none"};
  EXPECT_TRUE(std::get<Model>(model_of(given, "")).outages.empty());
  given.values.erase("outage");
  given.file = "m";
  EXPECT_EQ(fault_of(given, "version: 1\noutage: 15s+2s\n").substr(0, 20), "file m: error: outag");
}

TEST(ModelFile, error_names_the_model_file_or_the_option) {
  EXPECT_EQ(fault_of({"m", {}, {}}, "version: 1\nrat: 5/s\n"),
            "file m:2:1: error: rat: unknown key of a model (did you mean rate?)");
  EXPECT_EQ(fault_of({"m", {}, "x"}, "version: 1\n").substr(0, 39),
            "option reprise simulate: --seed: \"x\" is");
  EXPECT_EQ(fault_of({"", {{"rate", {"5"}}}, {}}, "").substr(0, 48),
            "option reprise simulate: --rate: \"5\" has no unit");
  EXPECT_EQ(fault_of({"m", {}, {}}, "version: 1\nerror: [60%, 50%]\n"),
            "file m: error: error: the shares add up to more than 100%");
  EXPECT_EQ(fault_of({"m", {{"error", {"60%", "50%"}}}, {}}, "version: 1\n"),
            "option reprise simulate: --error: the shares add up to more than 100%");
}

TEST(ModelFile, error_names_line_and_column_in_the_model_file) {
  EXPECT_EQ(problems(""), "m:1:1: error: the file is empty: a model begins with version: 1\n");
  EXPECT_EQ(problems("[1]"), "m:1:1: error: a model is a mapping of keys, such as rate: 500/s\n");
  EXPECT_EQ(problems("rate: 5/s\n"),
            "m:1:1: error: version: 1 is missing: write it at the top of the file\n");
  EXPECT_EQ(problems("version: 2\n"),
            "m:1:10: error: version: only version 1 is supported: the model may be for a later version of "
            "reprise\n");
  EXPECT_EQ(problems("version: 1\nrat: 5/s\n"),
            "m:2:1: error: rat: unknown key of a model (did you mean rate?)\n");
  EXPECT_NE(problems("version: 1\nzzzzzzzzz: 5/s\n").find("; write version, seed, rate,"), std::string::npos);
  EXPECT_EQ(problems("version: 1\nseed: x\n").substr(0, 24), "m:2:7: error: seed: \"x\" ");
  EXPECT_NE(problems("version: 1\nrate: [5/s]\n").find("m:2:7: error: rate: one value is expected"),
            std::string::npos);
  EXPECT_NE(problems("version: 1\noutage: {a: b}\n").find("m:2:9: error: outage: a list is expected"),
            std::string::npos);
  EXPECT_NE(
      problems("version: 1\noutage: [1s+1s, x]\n").find("m:2:17: error: outage: \"x\" is not an outage"),
      std::string::npos);
  EXPECT_NE(problems("version: 1\nrate: 5/s\nrate: 6/s\n").find("m:3:1: error"), std::string::npos);
  EXPECT_NE(problems("version: [\n").find("error"), std::string::npos);
}

}  // namespace
}  // namespace reprise::tools
