#include "config/otel_variables.hpp"

#include <gtest/gtest.h>

#include <map>

#include "config/keys/collector.hpp"
#include "config/load.hpp"

namespace reprise::config {
namespace otel_variables_test {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

OtelVariables read(const Variables& variables) {
  return otel_variables([&](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string endpoint(const Variables& variables) {
  const OtelVariables made = read(variables);
  return made.collector ? collector_text(*made.collector) : "none";
}

std::string only_warning(const Variables& variables) {
  const OtelVariables made = read(variables);
  EXPECT_EQ(made.warnings.size(), 1U);
  return made.warnings.empty() ? std::string() : made.warnings.front();
}

TEST(OtelVariables, traces_path_is_appended_only_to_the_common_endpoint) {
  const std::pair<const char*, const char*> common[] = {
      {"http://c:4318", "http://c:4318/v1/traces"},
      {" http://c:4318/ ", "http://c:4318/v1/traces"},
      {"http://c:4318/otlp", "http://c:4318/otlp/v1/traces"},
      {"http://c:4318/otlp//", "http://c:4318/otlp/v1/traces"},
      {"https://c.test", "https://c.test:443/v1/traces"},
      {"http://c.test", "http://c.test:80/v1/traces"},
      {"", "none"},
  };
  for (const auto& [given, made] : common)
    EXPECT_EQ(endpoint({{"OTEL_EXPORTER_OTLP_ENDPOINT", given}}), made) << given;
  const std::pair<const char*, const char*> own[] = {
      {"http://c:4318", "http://c:4318/"},
      {"http://c:4318/", "http://c:4318/"},
      {"https://c.test/x/", "https://c.test:443/x/"},
  };
  for (const auto& [given, made] : own)
    EXPECT_EQ(endpoint({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", given},
                        {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:1"}}),
              made)
        << given;
}

TEST(OtelVariables, invalid_endpoint_is_ignored_with_a_warning) {
  for (const char* bad :
       {"c:4318", "grpc://c:4317", "http://u:secret@c:4318", "http://c:4318/x?y", "http://c:0"}) {
    const std::string warning = only_warning({{"OTEL_EXPORTER_OTLP_ENDPOINT", bad}});
    EXPECT_TRUE(warning.starts_with("OTEL_EXPORTER_OTLP_ENDPOINT is ignored: it ")) << warning;
    EXPECT_EQ(warning.find("secret"), std::string::npos) << warning;
    EXPECT_EQ(endpoint({{"OTEL_EXPORTER_OTLP_ENDPOINT", bad}}), "none") << bad;
  }
  EXPECT_NE(only_warning({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"}}).find("port 4317"),
            std::string::npos);
}

TEST(OtelVariables, attributes_are_percent_decoded_and_service_name_variable_has_priority) {
  const OtelVariables made =
      read({{"OTEL_RESOURCE_ATTRIBUTES", "a=1, b=x%20y%2Cz%3D , a=2,service.name=old,,e="},
            {"OTEL_SERVICE_NAME", "shop 1"}});
  const NamedValues wanted{{"a", "2"}, {"b", "x y,z="}, {"e", ""}, {"service.name", "shop 1"}};
  EXPECT_EQ(made.resource, wanted);
  EXPECT_TRUE(made.warnings.empty());
}

TEST(OtelVariables, list_variable_with_a_malformed_item_is_ignored_as_a_whole) {
  for (const char* bad : {"a=1,b", "a=1,=2", "a=1,b c=2", "a=%", "a=%4", "a=%4g", "a=1,b=%zz"}) {
    const OtelVariables made = read({{"OTEL_RESOURCE_ATTRIBUTES", bad}});
    EXPECT_TRUE(made.resource.empty()) << bad;
    ASSERT_EQ(made.warnings.size(), 1U) << bad;
    EXPECT_TRUE(made.warnings[0].starts_with("OTEL_RESOURCE_ATTRIBUTES is ignored")) << made.warnings[0];
  }
}

TEST(OtelVariables, headers_that_affect_framing_are_ignored) {
  const OtelVariables made =
      read({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%3Db,Host=x,content-length=7,bad=a%0D%0Ab: c"}});
  EXPECT_EQ(made.headers, (NamedValues{{"api-key", "a=b"}}));
  EXPECT_EQ(made.warnings.size(), 3U);
  EXPECT_EQ(
      read({{"OTEL_EXPORTER_OTLP_HEADERS", "a=1"}, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"}}).headers,
      (NamedValues{{"b", "2"}}));
}

TEST(OtelVariables, export_is_off_if_an_otel_variable_disables_it) {
  const std::string url = "http://c:4318";
  const auto with = [&](const char* name, const char* value) {
    return endpoint({{"OTEL_EXPORTER_OTLP_ENDPOINT", url}, {name, value}}) != "none";
  };
  EXPECT_FALSE(with("OTEL_SDK_DISABLED", "True"));
  EXPECT_TRUE(with("OTEL_SDK_DISABLED", "false"));
  EXPECT_TRUE(with("OTEL_SDK_DISABLED", "1")) << "only true disables";
  EXPECT_FALSE(with("OTEL_TRACES_EXPORTER", "none"));
  EXPECT_TRUE(with("OTEL_TRACES_EXPORTER", "otlp"));
  EXPECT_FALSE(with("OTEL_TRACES_EXPORTER", "zipkin"));
  EXPECT_FALSE(with("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"));
  EXPECT_TRUE(with("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"));
  EXPECT_TRUE(only_warning({{"OTEL_SDK_DISABLED", "1"}}).starts_with("OTEL_SDK_DISABLED is neither"));
}

TEST(OtelVariables, collector_in_the_file_overrides_the_variables_but_uses_their_headers) {
  const OtelVariables variables = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://variable:4318"},
                                        {"OTEL_EXPORTER_OTLP_HEADERS", "k=v"},
                                        {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"}});
  const auto followed = [&](const std::string& text) {
    Loaded loaded = load_text("version: 1\n" + text, {});
    std::vector<std::string> warnings;
    follow_otel(variables, loaded.otlp.has_value(), *loaded.settings, warnings);
    EXPECT_TRUE(warnings.empty());
    return loaded.settings->trace.otlp;
  };
  EXPECT_EQ(followed("")->host, "variable");
  EXPECT_EQ(followed("trace: {sample: 10%}\n")->host, "variable");
  EXPECT_FALSE(followed("trace: {otlp: none}\n").has_value());
  const auto of_file = followed("trace: {otlp: \"http://file:4318\"}\n");
  EXPECT_EQ(of_file->host, "file");
  EXPECT_EQ(of_file->headers, (NamedValues{{"k", "v"}}));
  EXPECT_EQ(of_file->ca_file, "/ca.pem");
}

TEST(OtelVariables, unsupported_variables_cause_warnings_only_with_a_collector) {
  const auto warnings_of = [](const Variables& variables) {
    std::vector<std::string> warnings;
    Settings settings = built_in();
    const OtelVariables made = read(variables);
    EXPECT_TRUE(made.warnings.empty());
    follow_otel(made, false, settings, warnings);
    return warnings;
  };
  Variables variables = {{"OTEL_EXPORTER_OTLP_TIMEOUT", "1000"},
                         {"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip"},
                         {"OTEL_TRACES_SAMPLER", "traceidratio"},
                         {"OTEL_TRACES_SAMPLER_ARG", "0.1"}};
  EXPECT_TRUE(warnings_of(variables).empty()) << "no spans are sent";
  const std::pair<std::string, std::string> endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"};
  variables.insert(endpoint);
  EXPECT_EQ(warnings_of(variables),
            (std::vector<std::string>{
                "OTEL_EXPORTER_OTLP_TIMEOUT is ignored: the time limit for a batch is always 10 s",
                "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION is ignored: batches are not compressed",
                "OTEL_TRACES_SAMPLER is ignored: set the key trace.sample in the configuration",
                "OTEL_TRACES_SAMPLER_ARG is ignored: set the key trace.sample in the configuration"}));
  EXPECT_TRUE(warnings_of({{"OTEL_EXPORTER_OTLP_COMPRESSION", "none"}, endpoint}).empty());
}

TEST(OtelVariables, endpoint_on_a_listener_of_this_proxy_is_ignored_with_a_warning) {
  const OtelVariables variables = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:3128"}});
  Settings settings = built_in();
  std::vector<std::string> warnings;
  follow_otel(variables, false, settings, warnings);
  EXPECT_FALSE(settings.trace.otlp.has_value());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("OTEL_EXPORTER_OTLP_ENDPOINT is ignored: it is a listener"))
      << warnings[0];
}

}  // namespace
}  // namespace otel_variables_test
}  // namespace reprise::config
