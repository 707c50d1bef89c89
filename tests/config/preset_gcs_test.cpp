// Tests preset gcs: every operation of Cloud Storage, with one condition at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/config/asking.hpp"
#include "tests/config/golden.hpp"

namespace reprise::config {
namespace {

using policy::Idempotency;

// One row of the table of Cloud Storage operations.
struct Row {
  std::string line;
  std::string route;
  std::string method;
  std::string target;
  std::string rule;  // always, never, or conditions with commas between them
  bool on_408 = false;
  std::string header;

  Asked asked() const {
    Asked request(method, target);
    const std::size_t equals = header.find('=');
    if (equals != std::string::npos)
      request.with("header:" + header.substr(0, equals), header.substr(equals + 1));
    return request;
  }
  bool names(const std::string& condition) const {
    return ("," + rule + ",").find("," + condition + ",") != std::string::npos;
  }
};

const std::vector<Row>& table() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    std::istringstream lines(golden::read(golden::in_source("tests/config/presets/gcs.txt")));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      Row row{line, {}, {}, {}, {}, false, {}};
      std::string on;
      std::istringstream words(line);
      words >> row.route >> row.method >> row.target >> row.rule >> on >> row.header;
      EXPECT_FALSE(row.header.empty()) << "six columns: " << line;
      row.route.insert(0, "gcs/");
      row.on_408 = on == "408";
      rows.push_back(row);
    }
    return rows;
  }();
  return all;
}

const Settings& gcs() {
  static const Settings settings = settings_of("presets: [gcs]\n");
  return settings;
}

// The tests add each of these texts to each operation. Some texts are conditions; the others only look like
// conditions. An operation may become repeatable only by a condition that its row in the table names.
const std::vector<std::string> conditions{"query:ifGenerationMatch",
                                          "query:ifMetagenerationMatch",
                                          "query:generation",
                                          "query:ifSourceGenerationMatch",
                                          "query:ifSourceMetagenerationMatch",
                                          "query:ifGenerationNotMatch",
                                          "query:ifMetagenerationNotMatch",
                                          "query:ifgenerationmatch",
                                          "query:sourceGeneration",
                                          "header:If-Match",
                                          "header:If-None-Match",
                                          "header:x-goog-if-generation-match",
                                          "header:x-goog-if-metageneration-match",
                                          "header:x-goog-copy-source-if-generation-match",
                                          "json:etag",
                                          "json:metadata",
                                          "json:ifGenerationMatch"};

TEST(PresetGcs, A3_every_operation_matches_its_own_route) {
  for (const Row& row : table()) EXPECT_EQ(row.asked().route(gcs()).name, row.route) << row.line;
}

TEST(PresetGcs, A3_every_preset_route_appears_in_the_table_of_operations) {
  std::set<std::string> told;
  for (const Row& row : table()) told.insert(row.route);
  std::set<std::string> shipped{};
  for (std::size_t i = 0; i + 1 < gcs().routes->size(); ++i) shipped.insert((*gcs().routes)[i].name);
  EXPECT_EQ(told, shipped);
}

TEST(PresetGcs, R32_operations_documented_as_always_idempotent_are_retried) {
  const std::vector<std::pair<std::string, std::string>> always{
      {"GET", "storage.googleapis.com/storage/v1/b"},
      {"GET", "storage.googleapis.com/storage/v1/b/pail/o/a%2Fb"},
      {"GET", "storage.googleapis.com/storage/v1/b/pail/iam/testPermissions?permissions=x"},
      {"POST", "storage.googleapis.com/storage/v1/b?project=p"},
      {"DELETE", "storage.googleapis.com/storage/v1/b/pail"},
      {"POST", "storage.googleapis.com/storage/v1/b/pail/lockRetentionPolicy?ifMetagenerationMatch=1"},
      {"DELETE", "storage.googleapis.com/storage/v1/projects/p/hmacKeys/k"},
      {"DELETE", "storage.googleapis.com/storage/v1/b/pail/notificationConfigs/1"},
  };
  for (const auto& [method, target] : always) {
    EXPECT_TRUE(Asked(method, target).repeatable(gcs())) << method << " " << target;
  }
}

TEST(PresetGcs, R31_R33_without_a_precondition_only_always_idempotent_operations_are_retried) {
  for (const Row& row : table()) EXPECT_EQ(row.asked().repeatable(gcs()), row.rule == "always") << row.line;
}

TEST(PresetGcs, R33_R34_R37_R38_only_the_documented_precondition_makes_an_operation_retryable) {
  for (const Row& row : table()) {
    for (const std::string& condition : conditions) {
      const bool right = row.rule == "always" || row.names(condition);
      EXPECT_EQ(row.asked().with(condition, "7").repeatable(gcs()), right) << row.line << " + " << condition;
    }
  }
}

TEST(PresetGcs, R34_precondition_with_the_value_0_makes_the_request_idempotent) {
  EXPECT_TRUE(
      Asked("POST", "storage.googleapis.com/upload/storage/v1/b/p/o?ifGenerationMatch=0").repeatable(gcs()));
  EXPECT_TRUE(Asked("PUT", "storage.googleapis.com/p/o")
                  .with("header:X-Goog-If-Generation-Match", "0")
                  .repeatable(gcs()));
}

TEST(PresetGcs, R35_empty_precondition_does_not_count) {
  for (const Row& row : table()) {
    // In a request for a bucket, a query parameter without a value names a sub-resource (row L22). Such a
    // request is another operation.
    const bool of_bucket = row.route.ends_with("bucket.create") || row.route.ends_with("bucket.delete");
    const bool always = row.rule == "always";
    for (const std::string& condition : conditions)
      EXPECT_EQ(row.asked().with(condition, "").repeatable(gcs()),
                always && !(of_bucket && condition.starts_with("query:")))
          << row.line << " + empty " << condition;
    EXPECT_EQ(row.asked().with("query:ifGenerationMatch=&x", "1").repeatable(gcs()), always && !of_bucket)
        << row.line;
  }
}

TEST(PresetGcs, R36_only_a_top_level_etag_in_the_complete_body_counts) {
  std::size_t asked = 0;
  for (const Row& row : table()) {
    if (!row.names("json:etag")) continue;
    ++asked;
    const Asked request = row.asked();
    const auto& rule = request.route(gcs()).policy.idempotent;
    EXPECT_EQ(policy::judge(rule, request.view(), nullptr), Idempotency::undecided) << row.line;
    EXPECT_FALSE(row.asked().with("json:bindings", "nested etag").repeatable(gcs())) << row.line;
    EXPECT_TRUE(row.asked().with("json:etag", "x").repeatable(gcs())) << row.line;
  }
  // The rows with `json:etag` are four operations (HMAC keys; policies of buckets, objects and managed
  // folders), each on two hosts.
  EXPECT_EQ(asked, 8U);
}

TEST(PresetGcs, R33a_to_R33f_each_conditional_operation_is_retryable_with_its_precondition) {
  const std::string at = "storage.googleapis.com/storage/v1/";
  const auto is = [&](const std::string& method, const std::string& target, const std::string& condition) {
    return Asked(method, at + target).with(condition, "5").repeatable(gcs());
  };
  EXPECT_TRUE(is("PATCH", "b/p", "query:ifMetagenerationMatch"));                   // a
  EXPECT_TRUE(is("PUT", "b/p/o/x", "header:If-Match"));                             // b
  EXPECT_TRUE(is("PUT", "b/p/iam", "json:etag"));                                   // c
  EXPECT_TRUE(is("PUT", "projects/q/hmacKeys/k", "json:etag"));                     // d
  EXPECT_TRUE(is("POST", "b/p/o/x/rewriteTo/b/q/o/y", "query:ifGenerationMatch"));  // e
  EXPECT_TRUE(is("DELETE", "b/p/o/x", "query:generation"));                         // f
  EXPECT_FALSE(is("PATCH", "b/p/o/x", "query:ifGenerationMatch"));
  EXPECT_FALSE(is("DELETE", "b/p/o/x", "query:ifMetagenerationMatch"));
  EXPECT_FALSE(is("POST", "b/p/o/x/copyTo/b/q/o/y", "query:ifSourceGenerationMatch"));
  EXPECT_FALSE(is("POST", "b/p/acl", "query:ifMetagenerationMatch"));
}

TEST(PresetGcs, R40_requests_for_unknown_operations_are_retried_only_if_they_are_reads) {
  for (const char* target :
       {"storage.googleapis.com/storage/v2/b/p", "storage.googleapis.com/storage/v1/b/p/o/x/explode",
        "storage.googleapis.com/", "pail.storage.googleapis.com/x"}) {
    EXPECT_FALSE(Asked("POST", target).repeatable(gcs())) << target;
    EXPECT_FALSE(Asked("BREW", target).repeatable(gcs())) << target;
    EXPECT_TRUE(Asked("GET", target).repeatable(gcs())) << target;
  }
  EXPECT_EQ(Asked("POST", "example.com/storage/v1/b").route(gcs()).name, "default");
}

TEST(CloudStorage, L22_empty_or_missing_upload_id_does_not_count_as_an_upload_session) {
  for (const char* target :
       {"storage.googleapis.com/upload/storage/v1/b/p/o?", "www.googleapis.com/upload/storage/v1/b/p/o?",
        "storage.googleapis.com/resumable/upload/storage/v1/b/p/o?", "storage.googleapis.com/p/o?",
        "storage.googleapis.com/p/a/b?", "p.storage.googleapis.com/o?", "p.storage.googleapis.com/a/b?"}) {
    for (const char* method : {"PUT", "POST", "DELETE"}) {
      for (const char* query : {"upload_id", "upload_id=", "uploadId", "uploadId=", "partNumber=1&uploadId=",
                                "partNumber=&uploadId=1", "partNumber&uploadId=1"}) {
        const Asked request(method, std::string(target) + query);
        // Aborting a multipart upload is repeatable. It needs the upload id and no part number.
        const bool aborts = request.method == "DELETE" && request.query.ends_with("uploadId=1") &&
                            request.route(gcs()).name.find("multipart.abort") != std::string::npos;
        EXPECT_EQ(request.repeatable(gcs()), aborts) << method << " " << target << query;
      }
    }
  }
}

TEST(CloudStorage, L22_requests_for_bucket_subresources_do_not_match_the_bucket_route) {
  for (const char* bucket : {"storage.googleapis.com/p", "p.storage.googleapis.com/"}) {
    for (const char* method : {"PUT", "DELETE", "POST", "PATCH"}) {
      for (const char* query :
           {"policy", "policy=", "object-lock", "unheardOf", "upload_id=", "uploadId", "iam&x=1",
            "x=1&requestPayment", "cors", "lifecycle=", "acl", "defaultObjectAcl=", "subresource=value",
            "userProject=q&policy=1", "policy=1&userProject=q", "X-Goog-Signature=1&object-lock=x", "%61cl=1",
            "Acl=x"}) {
        EXPECT_FALSE(Asked(method, std::string(bucket) + "?" + query).repeatable(gcs()))
            << method << " " << bucket << "?" << query;
      }
    }
    for (const char* query :
         {"", "?", "?userProject=q", "?X-Goog-Signature=1&X-Goog-Expires=2", "?&",
          "?GoogleAccessId=a&Expires=1&Signature=b", "?userProject=q&X-Amz-Signature=1"}) {
      EXPECT_TRUE(Asked("PUT", std::string(bucket) + query).repeatable(gcs())) << bucket << query;
      EXPECT_TRUE(Asked("DELETE", std::string(bucket) + query).repeatable(gcs())) << bucket << query;
    }
    EXPECT_TRUE(Asked("PUT", std::string(bucket) + "?cors")
                    .with("header:x-goog-if-metageneration-match", "1")
                    .repeatable(gcs()));
    for (const char* method : {"GET", "HEAD"})
      EXPECT_TRUE(Asked(method, std::string(bucket) + "?policy").repeatable(gcs())) << method;
  }
}

TEST(CloudStorage, L22_paths_with_double_or_trailing_slashes_are_not_retried) {
  for (const char* path : {"//",
                           "//p",
                           "//p/o",
                           "/p//",
                           "/p//o",
                           "///p",
                           "//storage/v1/b/p",
                           "/storage//v1/b/p",
                           "/storage/v1//b/p",
                           "/storage/v1/b//p",
                           "/storage/v1/b/p/",
                           "/storage/v1/",
                           "/storage/v1/b/p/o//x",
                           "/storage/v1/b/p//o/x",
                           "/upload//storage/v1/b/p/o",
                           "/upload/storage//v1/b/p/o",
                           "//upload/storage/v1/b/p/o",
                           "/resumable//upload/storage/v1/b/p/o",
                           "/resumable/upload//storage/v1/b/p/o",
                           "/storage/v1/projects/p//hmacKeys/k",
                           "/download//storage/v1/b/p/o/x",
                           "/download/storage//v1/b/p/o/x",
                           "/batch//storage/v1",
                           "/batch/storage//v1"}) {
    for (const char* host : {"storage.googleapis.com", "www.googleapis.com"}) {
      for (const char* method : {"PUT", "DELETE", "POST", "PATCH", "OPTIONS"}) {
        for (const char* query : {"", "?upload_id=1", "?uploadId=1&partNumber=1"})
          EXPECT_FALSE(Asked(method, std::string(host) + path + query).repeatable(gcs()))
              << method << " " << host << path << query;
      }
      EXPECT_TRUE(Asked("HEAD", std::string(host) + path).repeatable(gcs()) ||
                  std::string(path).starts_with("/upload/"))
          << host << path;
    }
  }
  for (const char* path : {"//", "//o", "///o", "//a/b"}) {
    for (const char* method : {"PUT", "DELETE"}) {
      for (const char* query : {"", "?upload_id=1", "?uploadId=1&partNumber=1"})
        EXPECT_FALSE(Asked(method, std::string("p.storage.googleapis.com") + path + query).repeatable(gcs()))
            << method << " " << path << query;
    }
  }
  // An object name may contain an empty segment after its first segment.
  EXPECT_TRUE(Asked("PUT", "storage.googleapis.com/p/a//b?upload_id=1").repeatable(gcs()));
  EXPECT_TRUE(Asked("PUT", "p.storage.googleapis.com/a/b//c?upload_id=1").repeatable(gcs()));
}

TEST(PresetGcs, R39_R41_operator_can_allow_or_forbid_retries_of_an_operation) {
  const std::string upload = "storage.googleapis.com/upload/storage/v1/b/p/o?uploadType=media";
  const std::string route =
      "routes: [{name: uploads, match: {host: storage.googleapis.com, path: /upload/**}, policy: gcs, "
      "idempotent: {any: [{method: POST}]}}]\npresets: [gcs]\n";
  const Settings forced = settings_of(route);
  EXPECT_TRUE(Asked("POST", upload).repeatable(forced));
  EXPECT_EQ(Asked("POST", upload).route(forced).name, "uploads");
  EXPECT_FALSE(Asked("POST", "storage.googleapis.com/storage/v1/b/p/o").repeatable(forced));
  const Settings refused = settings_of("presets: [{name: gcs, idempotent: never}]\n");
  EXPECT_FALSE(Asked("GET", "storage.googleapis.com/p/o").repeatable(refused));
}

TEST(PresetGcs, object_name_with_encoded_slashes_is_a_single_path_segment) {
  const std::string at = "storage.googleapis.com/storage/v1/b/p/o/";
  EXPECT_EQ(Asked("DELETE", at + "a%2Fb%2Fc").route(gcs()).name, "gcs/objects.delete");
  EXPECT_EQ(Asked("DELETE", at + "a/b").route(gcs()).name, "gcs/json.other");
  EXPECT_EQ(Asked("DELETE", at + "b%2Facl%2Fc").route(gcs()).name, "gcs/objects.delete");
  EXPECT_EQ(Asked("DELETE", at + "b/acl/c").route(gcs()).name, "gcs/object_acl.delete");
}

TEST(PresetGcs, method_override_other_than_patch_does_not_match_the_patch_route) {
  const Asked put = Asked("POST", "storage.googleapis.com/storage/v1/b/p/o/x?ifMetagenerationMatch=1")
                        .with("header:X-HTTP-Method-Override", "PUT");
  EXPECT_EQ(put.route(gcs()).name, "gcs/json.other");
}

TEST(PresetGcs, R3_R5_408_is_retried_only_for_resumable_uploads_and_308_and_499_are_never_retried) {
  for (const Row& row : table()) {
    const auto& on = row.asked().route(gcs()).policy.retry.on;
    EXPECT_EQ(on.statuses.test(408), row.on_408) << row.line;
    EXPECT_FALSE(on.statuses.test(308) || on.statuses.test(499)) << row.line;
    EXPECT_TRUE(on.statuses.test(429) && on.statuses.test(508)) << row.line;
  }
  const Settings all = settings_of("presets: [{name: gcs, retry: {on: [5xx, 429, 408]}}]\n");
  EXPECT_TRUE(Asked("GET", "storage.googleapis.com/p/o").route(all).policy.retry.on.statuses.test(408));
}

TEST(PresetGcs, exact_and_wildcard_custom_hosts_apply_to_the_matching_preset_routes) {
  const Settings both = settings_of("presets: [{name: gcs, hosts: [emulator, '*.emulator', private]}]\n");
  EXPECT_EQ(Asked("PUT", "emulator/p/x").route(both).name, "gcs/xml.object.put_or_copy");
  EXPECT_EQ(Asked("PUT", "private/p").route(both).name, "gcs/xml.bucket.create");
  EXPECT_EQ(Asked("PUT", "p.emulator/x").route(both).name, "gcs/xml_host.object.put_or_copy");
  EXPECT_EQ(Asked("PUT", "storage.googleapis.com/p").route(both).name, "default");
  const Settings exact = settings_of("presets: [{name: gcs, hosts: [emulator]}]\n");
  EXPECT_EQ(Asked("PUT", "p.storage.googleapis.com/x").route(exact).name, "default");
  EXPECT_EQ(Asked("PUT", "p.emulator/x").route(exact).name, "default");
}

}  // namespace
}  // namespace reprise::config
