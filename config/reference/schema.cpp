#include "config/reference/schema.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/keys/predicates.hpp"
#include "config/keys/scalar.hpp"
#include "proxy/policy/match/condition.hpp"

namespace reprise::config {
namespace {

using Json = std::string;  // without whitespace; Layout adds it at the end

Json quote(std::string_view text) {
  Json result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

using Members = std::vector<std::pair<std::string, Json>>;

Json object(const Members& members) {
  Json result = "{";
  for (const auto& [name, value] : members) {
    if (result.size() > 1) result.push_back(',');
    result.append(quote(name)).append(":").append(value);
  }
  return result + "}";
}

Json array(const std::vector<Json>& items) {
  Json result = "[";
  for (const Json& item : items) result.append(result.size() > 1 ? "," : "").append(item);
  return result + "]";
}

Json any_of(const std::vector<Json>& choices) {
  return choices.size() == 1 ? choices.front() : object({{"anyOf", array(choices)}});
}

Json matching(std::string_view pattern) {
  return object({{"type", quote("string")}, {"pattern", quote(pattern)}});
}

Json reference(std::string_view definition) {
  return object({{"$ref", quote("#/definitions/" + std::string(definition))}});
}

bool is_number(std::string_view word) { return parse_whole(word).value.has_value(); }

// Adds the words of a key. YAML reads 504 as a number although the key takes a word, so the schema accepts
// both.
void add_words(std::vector<Json>& choices, const Key& key) {
  std::vector<Json> words;
  for (const std::string_view word : split_words(key.words)) {
    words.push_back(quote(word));
    if (is_number(word) || parse_boolean(word).value) words.emplace_back(word);
    // A YAML 1.1 tool writes `off` as false.
    if (word == "off" && key.words.find("false") == std::string_view::npos) words.emplace_back("false");
  }
  if (!words.empty()) choices.push_back(object({{"enum", array(words)}}));
}

Json bounded(std::string_view type, const Key& key) {
  Members members{{"type", quote(type)}};
  if (!key.lowest.empty()) members.emplace_back("minimum", key.lowest);
  if (!key.highest.empty()) members.emplace_back("maximum", key.highest);
  return object(members);
}

void add_scalar(std::vector<Json>& choices, const Key& key, Kind kind) {
  switch (kind) {
    case Kind::boolean: choices.push_back(object({{"type", quote("boolean")}})); break;
    case Kind::whole: choices.push_back(bounded("integer", key)); break;
    case Kind::number: choices.push_back(bounded("number", key)); break;
    case Kind::duration: choices.push_back(reference("duration")); break;
    case Kind::size: choices.push_back(reference("size")); break;
    case Kind::ratio: choices.push_back(reference("ratio")); break;
    case Kind::rate: choices.push_back(reference("rate")); break;
    case Kind::status: choices.push_back(reference("status")); break;
    case Kind::ports: choices.push_back(reference("ports")); break;
    case Kind::endpoint: choices.push_back(matching(R"(^([0-9.]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$)")); break;
    case Kind::upstream: choices.push_back(matching("^[Hh][Tt][Tt][Pp][Ss]?://")); break;
    case Kind::collector:
      choices.push_back(
          matching("^([Hh][Tt][Tt][Pp]://[^/]+:[0-9]{1,5}|[Hh][Tt][Tt][Pp][Ss]://[^/]+)(/.*)?$"));
      break;
    case Kind::parent: choices.push_back(matching("^[Hh][Tt][Tt][Pp][Ss]?://[^/]+/?$")); break;
    case Kind::route: choices.push_back(matching("^([a-z-]+/)?[A-Za-z0-9._-]{1,64}$")); break;
    case Kind::name: choices.push_back(matching("^[A-Za-z0-9._-]{1,64}$")); break;
    case Kind::folder:
    case Kind::file: choices.push_back(matching("^/")); break;
    case Kind::version_field: choices.push_back(matching("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")); break;
    case Kind::grpc_method: choices.push_back(matching("^[A-Za-z0-9_.*]+/[A-Za-z0-9_.*]+$")); break;
    case Kind::path: choices.push_back(matching("^/[^?#]*$")); break;
    case Kind::network:
    case Kind::host:
    case Kind::destination:
    case Kind::method:
    case Kind::text: choices.push_back(object({{"type", quote("string")}})); break;
    case Kind::word:
    case Kind::mapping:
    case Kind::list:
    case Kind::pairs:
    case Kind::rule:
    case Kind::predicates: break;
  }
  add_words(choices, key);
  choices.push_back(reference("replaced"));
}

Members properties_of(std::string_view path);

Json closed_object(const Members& properties, const std::vector<Json>& required) {
  Members members{{"type", quote("object")}, {"additionalProperties", "false"}};
  if (!required.empty()) members.emplace_back("required", array(required));
  members.emplace_back("properties", object(properties));
  return object(members);
}

// Returns the schema of the value of one key, without its description.
Json shape_of(const Key& key) {
  std::vector<Json> choices;
  if (key.path == "defaults") return reference("policy");
  if (key.path == "policies")
    return object({{"type", quote("object")}, {"additionalProperties", reference("policy")}});
  switch (form_of(key.kind)) {
    case Form::mapping:
      choices.push_back(closed_object(properties_of(key.path), {}));
      add_words(choices, key);
      break;
    case Form::list: {
      std::vector<Json> items;
      if (key.item == Kind::mapping) {
        const bool named = key.path == "routes" || key.path == "presets";
        items.push_back(closed_object(properties_of(std::string(key.path) + "[]"),
                                      named ? std::vector<Json>{quote("name")} : std::vector<Json>{}));
        if (key.path == "presets") add_words(items, *find_key("presets[].name"));
      } else {
        add_scalar(items, key, key.item);
      }
      choices.push_back(object({{"type", quote("array")}, {"items", any_of(items)}}));
      if (!key.instead.empty()) choices.push_back(object({{"const", quote(key.instead)}}));
      break;
    }
    case Form::rule: choices.push_back(reference("rule")); break;
    case Form::pairs: choices.push_back(reference("pairs")); break;
    case Form::predicates: choices.push_back(reference("predicates")); break;
    case Form::scalar:
      if (key.path == "parent") choices.push_back(closed_object(properties_of(key.path), {quote("url")}));
      add_scalar(choices, key, key.kind);
      break;
  }
  return any_of(choices);
}

Members properties_of(std::string_view path) {
  Members properties;
  for (const Key* key : keys_under(path)) {
    const std::string name(last_part(key->path));
    // A key that routes share with `defaults` is described once; the schema of a route refers to that
    // description.
    if ((path == "routes[]" || path == "presets[]") && key->path.starts_with("defaults.")) {
      properties.emplace_back(name, reference("policy/properties/" + name));
      continue;
    }
    const Json described =
        object({{"description", quote(key->sentence)}, {"allOf", array({shape_of(*key)})}});
    properties.emplace_back(name, described);
    // A YAML 1.1 tool writes the key `on` as true.
    if (name == "on") properties.emplace_back("true", described);
  }
  return properties;
}

Json rule_schema() {
  std::vector<Json> conditions(policy::condition_words.size());
  std::ranges::transform(policy::condition_words, conditions.begin(), [](std::string_view word) {
    return closed_object({{std::string(word), object({{"type", quote("string")}})}}, {quote(word)});
  });
  const Json list = object(
      {{"type", quote("array")}, {"minItems", "1"}, {"items", object({{"anyOf", array(conditions)}})}});
  std::vector<Json> alone, choices;
  for (std::size_t i = 0; i < policy::rule_words.size(); ++i) {
    const policy::IdempotencyRule rule{static_cast<policy::IdempotencyRule::Kind>(i), {}};
    const std::string word(policy::word(rule.kind));
    if (rule.has_conditions()) {
      choices.push_back(closed_object({{word, list}}, {quote(word)}));
    } else {
      alone.push_back(quote(word));
    }
  }
  choices.insert(choices.begin(), object({{"enum", array(alone)}}));
  choices.push_back(reference("replaced"));
  return any_of(choices);
}

Json pairs_schema() {
  const Json scalar = object({{"type", R"(["string","number","boolean","null"])"}});
  return any_of({object({{"type", quote("array")}, {"items", object({{"type", quote("string")}})}}),
                 object({{"type", quote("object")}, {"additionalProperties", scalar}})});
}

Json predicates_schema() {
  const Json scalar = object({{"type", R"(["string","number","boolean"])"}});
  const Json patterns =
      object({{"type", quote("array")}, {"minItems", "1"}, {"maxItems", "32"}, {"items", scalar}});
  Members members;
  for (const std::string_view key : predicate_keys) {
    const bool is_pattern = key == "matches";
    members.emplace_back(key, key == "status"    ? reference("status")
                              : key == "refused" ? object({{"type", quote("boolean")}})
                              : is_pattern       ? any_of({scalar, patterns})
                                                 : scalar);
  }
  const Json one = closed_object(members, {});
  return any_of(
      {one, object({{"type", quote("array")}, {"minItems", "1"}, {"maxItems", "16"}, {"items", one}})});
}

Json definitions() {
  const Json zero = object({{"const", "0"}});
  const Json port = R"({"type":"integer","minimum":1,"maximum":65535})";
  const Json status = R"({"type":"integer","minimum":200,"maximum":999})";
  const std::string number = "[0-9]+([.][0-9]+)?";
  return object(
      {{"replaced", matching(R"(\$\{(env|file):)")},
       {"duration", any_of({matching("^(" + number + "(h|m|s|ms|us))+$"), matching("^0$"), zero})},
       {"size", any_of({matching("^" + number + "(B|[KMG]i?B)$"), matching("^0$"), zero})},
       {"ratio", any_of({matching("^" + number + "%?$"), R"({"type":"number","minimum":0,"maximum":1})"})},
       {"rate", any_of({matching("^" + number + "/s$"), matching("^0$"), zero})},
       {"status", any_of({status, matching("^([2-9][0-9][0-9](-[2-9][0-9][0-9])?|[2-9]xx)$")})},
       {"ports", any_of({port, matching("^[0-9]{1,5}(-[0-9]{1,5})?$")})},
       {"rule", rule_schema()},
       {"pairs", pairs_schema()},
       {"predicates", predicates_schema()},
       {"policy", closed_object(properties_of("defaults"), {})}});
}

// Formats JSON with two blanks per level and one member or item per line.
class Layout {
 public:
  explicit Layout(const Json& json) : json_(json) {}

  std::string run() {
    while (at_ < json_.size()) step();
    return result_ + "\n";
  }

 private:
  void step() {
    const char c = json_[at_];
    if (c == '"') return copy_string();
    ++at_;
    if (c == '{' || c == '[') {
      result_.push_back(c);
      ++depth_;
      if (json_[at_] != '}' && json_[at_] != ']') line(depth_);
    } else if (c == '}' || c == ']') {
      --depth_;
      const char before = json_[at_ - 2];
      if (before != '{' && before != '[') line(depth_);
      result_.push_back(c);
    } else {
      result_.push_back(c);
      if (c == ',') line(depth_);
      if (c == ':') result_.push_back(' ');
    }
  }

  void copy_string() {
    const std::size_t start = at_++;
    while (json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    ++at_;
    result_.append(json_, start, at_ - start);
  }

  void line(std::size_t depth) { result_.append("\n").append(2 * depth, ' '); }

  const Json& json_;
  std::string result_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

std::string schema_json() {
  const Json json = object({{"$schema", quote("http://json-schema.org/draft-07/schema#")},
                            {"title", quote("reprise.yaml")},
                            {"type", quote("object")},
                            {"additionalProperties", "false"},
                            {"required", array({quote("version")})},
                            {"properties", object(properties_of(""))},
                            {"definitions", definitions()}});
  return Layout(json).run();
}

}  // namespace reprise::config
