// Fuzz target: the search in JSON bodies. It finds exactly the values that a full parse has at the same path.
#include <boost/json.hpp>

#include "proxy/http/body_rules/json_probe.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

namespace json = boost::json;
using http::JsonText;

/// Returns the value at the path, or null.
const json::value* at(const json::value& root, const std::vector<std::string>& path) {
  const json::value* value = &root;
  for (const std::string& key : path) {
    const json::object* object = value->if_object();
    value = object == nullptr ? nullptr : object->if_contains(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool counts(const json::value* value) {
  if (value == nullptr || value->is_null()) return false;
  if (const auto* text = value->if_string()) return !text->empty();
  if (const auto* object = value->if_object()) return !object->empty();
  if (const auto* array = value->if_array()) return !array->empty();
  return true;
}

std::string joined(const std::vector<std::string>& path) {
  std::string text = path[0];
  for (std::size_t i = 1; i < path.size(); ++i) text += "." + path[i];
  return text;
}

/// Returns a path of existing keys, one per level, at most as deep as the tree.
std::vector<std::string> some_path(const json::value& root, std::uint64_t chosen) {
  std::vector<std::string> path;
  const json::object* object = root.if_object();
  while (object != nullptr && !object->empty() && path.size() < 8) {
    const auto& member = *(object->begin() + static_cast<std::ptrdiff_t>(chosen % object->size()));
    const std::string key(member.key().data(), member.key().size());
    if (key.find('.') != std::string::npos) break;
    path.push_back(key);
    chosen = chosen / 7 + 1;
    object = chosen % 4 == 0 ? nullptr : member.value().if_object();
  }
  return path;
}

void judge_path(std::string_view text, const json::value* root, const std::vector<std::string>& path) {
  const json::value* const value = root == nullptr ? nullptr : at(*root, path);
  const JsonText probe(text);
  const std::string dotted = joined(path);
  law(probe.has_at(dotted, {}) == counts(value), "it is found exactly where the tree has it");
  if (path.size() == 1) law(probe.has(path[0]) == counts(value), "at the top as below");
  law(!probe.has_at(dotted, {"no such text"}) || (value != nullptr && value->is_string()),
      "another text is not found");
  const bool has_text = counts(value) && !value->is_object() && !value->is_array();
  law(probe.has_at(dotted, {.matches = {"*"}}) == has_text, "any text is like a star, and nothing else is");
  if (value == nullptr) return;
  if (const auto* string = value->if_string())
    law(probe.has_at(dotted, {std::string(string->data(), string->size())}) == !string->empty(),
        "a string equals itself");
  if (const bool* boolean = value->if_bool()) {
    law(probe.has_at(dotted, {*boolean ? "true" : "false"}) &&
            !probe.has_at(dotted, {*boolean ? "false" : "true"}),
        "a boolean equals itself");
  }
}

/// Checks that a value is still found if the text is wrapped in an object and the object's key is added to
/// the path.
void judge_wrapped(std::string_view text, const std::vector<std::string>& path) {
  const std::string wrapped = "{\"x\":null, \"w\":" + std::string(text) + " , \"y\":[{\"w\":1}]}";
  law(JsonText(wrapped).has_at("w." + joined(path), {}) == JsonText(text).has_at(joined(path), {}),
      "a wrapped text has the same");
  law(!JsonText(wrapped).has("x") && JsonText(wrapped).has("y"), "beside what stands around it");
  law(!JsonText(wrapped + "x").has("y") && !JsonText(wrapped.substr(0, wrapped.size() - 1)).has("y"),
      "bad JSON has no keys");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  json::parse_options options;
  options.max_depth = 64;
  json::error_code error;
  unsigned char storage[8192];
  json::monotonic_resource memory(storage);
  const json::value root = json::parse(json::string_view(text.data(), text.size()), error, &memory, options);
  const std::uint64_t chosen = mixed(text);
  judge_path(text, error ? nullptr : &root, {"error", "code"});
  judge_path(text, error ? nullptr : &root, {"a"});
  judge_path(text, error ? nullptr : &root, {"a", "b"});
  if (error) return 0;
  const std::vector<std::string> path = some_path(root, chosen);
  if (path.empty()) return 0;
  judge_path(text, &root, path);
  if (std::count(text.begin(), text.end(), '[') + std::count(text.begin(), text.end(), '{') < 60)
    judge_wrapped(text, path);
  return 0;
}
