// Tests that the schema is JSON and has exactly the supported keys.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "config/keys/keys.hpp"
#include "config/reference/schema.hpp"

namespace reprise::config {
namespace {

namespace json = boost::json;

json::value schema() {
  json::error_code error;
  json::value parsed = json::parse(schema_json(), error);
  EXPECT_FALSE(error) << error.message();
  return parsed;
}

// Follows `$ref`, `allOf` and `anyOf` to an object that has properties, and returns the properties. Null if
// there is no such object.
const json::object* properties(const json::value& root, const json::value& place) {
  const json::object* object = place.if_object();
  if (object == nullptr) return nullptr;
  if (const json::value* found = object->if_contains("properties")) return found->if_object();
  if (const json::value* items = object->if_contains("items")) return properties(root, *items);
  if (const json::value* reference = object->if_contains("$ref")) {
    json::error_code error;
    const std::string pointer(reference->as_string().subview(1));
    const json::value* target = root.find_pointer(pointer, error);
    return target == nullptr ? nullptr : properties(root, *target);
  }
  for (const char* choice : {"allOf", "anyOf", "additionalProperties"}) {
    const json::value* choices = object->if_contains(choice);
    if (choices == nullptr) continue;
    if (choices->is_object()) return properties(root, *choices);
    if (!choices->is_array()) continue;
    for (const json::value& one : choices->as_array()) {
      if (const json::object* found = properties(root, one)) return found;
    }
  }
  return nullptr;
}

bool has_key(const json::value& root, std::string_view path) {
  const json::value* place = &root;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (step.ends_with("[]")) step.remove_suffix(2);
    if (step == "*") continue;
    const json::object* members = properties(root, *place);
    const json::value* next =
        members == nullptr ? nullptr : members->if_contains(json::string_view(step.data(), step.size()));
    if (next == nullptr) return false;
    place = next;
  }
  return true;
}

TEST(Schema, schema_is_draft_07_and_allows_no_additional_properties) {
  const json::value root = schema();
  EXPECT_EQ(root.at("$schema").as_string(), "http://json-schema.org/draft-07/schema#");
  EXPECT_FALSE(root.at("additionalProperties").as_bool());
  EXPECT_FALSE(root.at("definitions").at("policy").at("additionalProperties").as_bool());
}

TEST(Schema, schema_has_every_key_and_no_other) {
  const json::value root = schema();
  for (const Key& key : all_keys()) EXPECT_TRUE(has_key(root, key.path)) << key.path;
  for (const char* path : {"routes[].retry.backoff.jitter", "policies.*.retry.on", "routes[].budget.ratio"})
    EXPECT_TRUE(has_key(root, path)) << path;
  EXPECT_FALSE(has_key(root, "policies.*.match"));
  EXPECT_FALSE(has_key(root, "intercept.on"));
}

}  // namespace
}  // namespace reprise::config
