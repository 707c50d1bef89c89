// Tests that the reference page, the schema, the default file and the examples match the code.
#include "config/reference/reference.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/keys/shortcut_table.hpp"
#include "config/load.hpp"
#include "config/presets/presets.hpp"
#include "config/reference/effective.hpp"
#include "config/reference/schema.hpp"
#include "tests/config/golden.hpp"

namespace reprise::config::reference_test {
namespace {

std::string problems_of(const Loaded& loaded) {
  std::string text;
  for (const Problem& problem : loaded.problems) {
    if (problem.severity == Problem::Severity::error) text.append(to_line(problem, "f.yaml")).append("\n");
  }
  return text;
}

Settings load(const std::string& text) {
  Loaded loaded = load_text(text, {});
  EXPECT_EQ(problems_of(loaded), "") << text;
  return loaded.settings ? *loaded.settings : built_in();
}

TEST(Reference, generated_reference_equals_config_readme) {
  golden::expect_file(golden::in_source("config/README.md"), reference_markdown());
}

TEST(Reference, generated_schema_equals_the_schema_file) {
  golden::expect_file(golden::in_source("config/schema.json"), schema_json());
}

TEST(Reference, reference_page_has_a_row_for_every_key) {
  const std::string page = reference_markdown();
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| `"); at != std::string::npos; at = page.find("\n| `", at + 1)) ++rows;
  // The search counts every table row that begins with a code span. So it also counts the rows for
  // conditions, for flags, and eight rows for predicates. `policies.*` has no row of its own, because the row
  // of `policies` describes this key.
  EXPECT_EQ(rows,
            all_keys().size() + policy::count_of<policy::Condition::Kind> + shortcut_table.size() + 8 - 1);
  for (const Key& key : all_keys())
    EXPECT_TRUE(key.path == "policies.*" || page.find(key.sentence) != std::string::npos) << key.path;
}

TEST(Reference, reference_page_and_guide_name_every_preset) {
  const std::string page = reference_markdown();
  const std::string guide = golden::read(golden::in_source("docs/configuration.md"));
  for (const std::string_view preset : preset_names()) {
    const std::string name(preset);
    EXPECT_NE(page.find("\n| [" + name + "](presets/" + name + ".yaml) |"), std::string::npos) << name;
    EXPECT_NE(guide.find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(Reference, key_descriptions_are_single_lines_without_a_vertical_bar) {
  for (const Key& key : all_keys()) {
    EXPECT_FALSE(key.sentence.empty()) << key.path;
    EXPECT_EQ(key.sentence.find('|'), std::string::npos) << key.path << ": a bar ends a column";
    EXPECT_EQ(key.sentence.find('\n'), std::string::npos) << key.path;
  }
}

TEST(DefaultFile, default_file_loads_to_exactly_the_built_in_settings) {
  const Loaded loaded = load_file(golden::in_source("config/reprise.yaml"), {});
  EXPECT_EQ(problems_of(loaded), "");
  ASSERT_TRUE(loaded.settings);
  EXPECT_EQ(effective_yaml(*loaded.settings), effective_yaml(built_in()));
}

// Returns a commented-out line of an example in reprise.yaml without its `#`, at its proper indentation.
// A comment that is prose stays a comment.
std::string uncommented(std::string line) {
  const bool key = line.starts_with("# policies:") || line.starts_with("# routes:") ||
                   line.starts_with("# presets:") || line.starts_with("# intercept:") ||
                   line.starts_with("#   ");
  const bool item = line.starts_with("#  - ") || line.starts_with("#    ");
  if (key)
    line.erase(0, line.starts_with("#    ") && !line.starts_with("#     ") ? 1 : 2);
  else if (item)
    line.erase(0, 1);
  return line;
}

using Paths = std::set<std::string, std::less<>>;

// Adds to `paths` the sub-keys that `rest` lists in braces for the key at `path`. `rest` is the value of the
// key, with the comment after the value.
void add_in_braces(const std::string& path, std::string_view rest, Paths& paths) {
  std::vector<std::string> above;
  std::string at = path;
  bool may_be_key = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '{' || c == '[') above.push_back(c == '{' ? at : at + "[]");
    if ((c == '}' || c == ']') && !above.empty()) above.pop_back();
    if (c == ' ' || above.empty()) continue;
    if (c == '{' || c == '[' || c == ',') {
      at = above.back();
      may_be_key = true;
      continue;
    }
    const std::string_view word =
        rest.substr(i, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", i) - i);
    if (may_be_key && !word.empty() && rest.substr(i + word.size()).starts_with(':')) {
      at = above.back() + "." + std::string(word);
      paths.insert(at);
    }
    may_be_key = false;
  }
}

// Returns the path of each key that the default file sets or shows in a comment. A comment after a key may
// show the sub-keys in braces, or an alternative key with a list: `host: a  # or hosts: [a, b]`.
Paths paths_in(const std::string& text) {
  struct Level {
    std::size_t indent;
    std::string path;
  };
  const auto below = [](const std::vector<Level>& levels, const std::string& name) {
    if (levels.empty()) return name;
    return levels.back().path + "." + (levels.back().path == "policies" ? "*" : name);
  };
  const std::regex key_form("([a-z0-9_]+):( .*)?");
  const std::regex list_form("([a-z0-9_]+): \\[");
  Paths paths;
  std::vector<Level> levels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = uncommented(line.starts_with("# parent:") ? line.substr(2) : line);
    std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || line[indent] == '#') continue;
    while (!levels.empty() && levels.back().indent >= indent) levels.pop_back();
    if (line.compare(indent, 2, "- ") == 0) {
      if (levels.empty()) ADD_FAILURE() << "an item of no list: " << line;
      if (levels.empty()) continue;
      levels.push_back({indent, levels.back().path + "[]"});
      indent += 2;
    }
    const std::string entry = line.substr(indent);
    std::smatch parts;
    if (!std::regex_match(entry, parts, key_form)) {
      if (!levels.empty()) add_in_braces(levels.back().path, entry, paths);
      continue;
    }
    const std::string rest = parts[2];
    for (std::sregex_iterator list(rest.begin(), rest.end(), list_form); list != std::sregex_iterator();
         ++list)
      paths.insert(below(levels, (*list)[1]));
    levels.push_back({indent, below(levels, parts[1])});
    paths.insert(levels.back().path);
    add_in_braces(levels.back().path, rest, paths);
  }
  return paths;
}

TEST(DefaultFile, default_file_mentions_every_key) {
  const Paths paths = paths_in(golden::read(golden::in_source("config/reprise.yaml")));
  for (const Key& key : all_keys()) EXPECT_TRUE(paths.contains(key.path)) << key.path;
}

TEST(DefaultFile, commented_examples_in_the_default_file_load) {
  const std::string text = golden::read(golden::in_source("config/reprise.yaml"));
  std::string active;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) active.append(uncommented(line)).append("\n");
  EXPECT_NE(active, text);
  const Settings settings = load(active);
  EXPECT_EQ(settings.listeners.size(), 4U);
  ASSERT_TRUE(settings.intercept);
  ASSERT_GT(settings.routes->size(), 100U);
  EXPECT_EQ((*settings.routes)[0].policy.retry.max_attempts, 8U);
  EXPECT_EQ((*settings.routes)[1].name, "memorystore/api");
  EXPECT_EQ((*settings.routes)[2].policy.retry.max_attempts, 24U);
}

TEST(Examples, example_files_load_without_problems) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(golden::in_source("config/examples"))) {
    const Loaded loaded = load_file(file.path(), {});
    EXPECT_EQ(problems_of(loaded), "") << file.path();
    ASSERT_TRUE(loaded.settings) << file.path();
    const std::string printed = effective_yaml(*loaded.settings);
    EXPECT_EQ(effective_yaml(load(printed)), printed) << file.path();
    ++count;
  }
  EXPECT_GE(count, 2U);
}

// Maps keys to non-default values. Contains the keys for which the test cannot derive such a value from the
// kind of the key.
const std::map<std::string, std::string, std::less<>>& other_values() {
  static const std::map<std::string, std::string, std::less<>> values{
      {"listeners", "[{mode: gateway, bind: 127.0.0.1:1, upstream: http://a}]"},
      {"listeners[].mode", "{mode: socks, bind: 127.0.0.1:1}"},
      {"listeners[].bind", "{bind: 127.0.0.1:1}"},
      {"listeners[].allow_remote", "{allow_remote: true}"},
      {"listeners[].http2", "{http2: false}"},
      {"listeners[].upstream", "{mode: gateway, bind: 127.0.0.1:1, upstream: http://b:81/c}"},
      {"listeners[].host", "{mode: gateway, bind: 127.0.0.1:1, upstream: http://a, host: client}"},
      {"listeners[].redirects", "{mode: gateway, bind: 127.0.0.1:1, upstream: http://a, redirects: pass}"},
      {"admin", "off"},
      {"admin.bind", "127.0.0.1:1"},
      {"parent", "\"http://proxy.internal:3128\""},
      {"parent.url", "\"https://proxy.internal:3129\""},
      {"parent.ca_file", "/ca.pem"},
      {"parent.except", "[\"*.internal\", 10.0.0.0/8, api.test]"},
      {"defaults.idempotent", "never"},
      {"defaults.retry.on", "[503]"},
      {"defaults.retry.refused", "[429, 503]"},
      {"defaults.retry.backoff.multiplier", "1.5"},
      {"defaults.budget", "off"},
      {"defaults.tls", "originate"},
      {"defaults.tls.ca_file", "/ca.pem"},
      {"defaults.tls.certificate", "/c.pem, key: /k.pem"},
      {"defaults.tls.key", "/k.pem, certificate: /c.pem"},
      {"defaults.tls.key_passphrase", "x, key: /k.pem, certificate: /c.pem"},
      {"defaults.tls.server_name", "a.example"},
      {"presets", "[memorystore]"},
      {"presets[].name", "{name: memorystore}"},
      {"presets[].hosts", "{name: memorystore, hosts: [a]}"},
      {"presets[].policy", "{name: memorystore, policy: aws}"},
      {"routes[].name", "another"},
      {"routes[].match.host", "'*.a'"},
      {"routes[].match.hosts", "[a, '*.a']"},
      {"routes[].match.port", "81"},
      {"routes[].match.path", "'/a/{b}/**'"},
      {"routes[].match.methods", "[GET]"},
      {"routes[].match.query", "[a, b=c]"},
      {"routes[].match.headers", "{a: b, c: }"},
      {"routes[].match.grpc", "[a.B/C, '*/Get*']"},
      {"defaults.hold", "{}"},
      {"defaults.hold.body",
       "[{event: error}, {json: a.b, equals: c}, {status: 4xx, xml: Code, matches: [a, b]}]"},
      {"defaults.resume", "off"},
      {"defaults.resume.validators", "[ETag, X-Checksum]"},
      {"defaults.hedge", "{}"},
      {"defaults.circuit", "{}"},
      {"defaults.retry.deadline", "unlimited"},
      {"shutdown.linger", "1s"},
      {"defaults.retry.backoff.maximum", "1h"},
      {"defaults.budget.ratio", "1%"},
      {"trace.sample", "10%"},
      {"security.deny", "[10.0.0.0/8]"},
      {"security.connect_ports", "[1-2, 3]"},
      {"limits.replay_folder", "/var/tmp"},
      {"admin.control", "/run/reprise/control.sock"},
      {"intercept.hosts", "[b.test, \"*.c.test\"]"},
      {"intercept.ca.certificate", "/b.pem"},
      {"intercept.ca.key", "/b.key"},
      {"intercept.bundle", "/bundle.pem"},
      {"trace.otlp", "\"http://127.0.0.1:4318/spans\""},
  };
  return values;
}

// Returns a non-default value of the key. Empty if the value has to be listed in other_values() but is
// missing there.
std::string other_value(const Key& key) {
  if (const auto value = other_values().find(key.path); value != other_values().end()) return value->second;
  switch (key.kind) {
    case Kind::boolean: return key.standard == "true" ? "false" : "true";
    case Kind::word:
      for (const std::string_view word : split_words(key.words)) {
        if (word != key.standard) return std::string(word);
      }
      return "";
    case Kind::whole:
    case Kind::duration:
    case Kind::size:
    case Kind::ratio:
    case Kind::rate: return std::string(key.lowest == key.standard ? key.highest : key.lowest);
    default: return "";
  }
}

// Returns `a: {b: {c: value}}` for the path `a.b.c`.
std::string nested(std::string_view path, const std::string& value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return std::string(path) + ": " + value;
  return std::string(path.substr(0, dot)) + ": {" + nested(path.substr(dot + 1), value) + "}";
}

std::string file_with(std::string_view path, const std::string& value) {
  if (path.starts_with("listeners[].")) return "version: 1\nlisteners: [" + value + "]\n";
  if (path.starts_with("presets[].")) return "version: 1\npresets: [" + value + "]\n";
  if (path == "parent.ca_file" || path == "parent.except") {
    const std::string name(path.substr(path.find('.') + 1));
    return "version: 1\nparent: {url: \"https://proxy.internal:3129\", " + name + ": " + value + "}\n";
  }
  if (path.starts_with("intercept.")) {
    // `intercept` requires hosts, ca.certificate and ca.key.
    std::map<std::string, std::string, std::less<>> parts{
        {"hosts", "[a.test]"}, {"ca.certificate", "/a.pem"}, {"ca.key", "/a.key"}, {"bundle", "none"}};
    parts[std::string(path.substr(std::string_view("intercept.").size()))] = value;
    return "version: 1\nintercept: {hosts: " + parts["hosts"] +
           ", ca: {certificate: " + parts["ca.certificate"] + ", key: " + parts["ca.key"] +
           "}, bundle: " + parts["bundle"] + "}\n";
  }
  if (!path.starts_with("routes[].")) return "version: 1\n" + nested(path, value) + "\n";
  const std::string_view key = path.substr(std::string_view("routes[].").size());
  const std::string name = key == "name" ? "" : "name: r, ";
  return "version: 1\nroutes: [{" + name + nested(key, value) + "}]\n";
}

// Returns a file to compare with the file that sets the key to a non-default value. The two files differ only
// in this key, so any difference in the settings is caused by the key.
std::string file_to_compare(std::string_view path) {
  static const std::map<std::string, std::string, std::less<>> values{
      {"listeners[].mode", "{bind: 127.0.0.1:1}"},
      {"listeners[].upstream", "{mode: gateway, bind: 127.0.0.1:1, upstream: http://a}"},
      {"listeners[].host", "{mode: gateway, bind: 127.0.0.1:1, upstream: http://a}"},
      {"parent.url", "\"https://proxy.internal:3130\""},
      {"parent.ca_file", "system"},
      {"parent.except", "[\"*.internal\"]"},
      {"defaults.tls.ca_file", "/other.pem"},
      {"defaults.tls.certificate", "/other.pem, key: /k.pem"},
      {"defaults.tls.key", "/other.pem, certificate: /c.pem"},
      {"presets[].name", "{name: gcs}"},
      {"presets[].hosts", "{name: memorystore}"},
      {"presets[].policy", "{name: memorystore}"},
      {"routes[].name", "r"},
      {"intercept.hosts", "[a.test]"},
      {"intercept.ca.certificate", "/a.pem"},
      {"intercept.ca.key", "/a.key"},
      {"intercept.bundle", "none"},
  };
  if (const auto value = values.find(path); value != values.end()) return file_with(path, value->second);
  if (path.starts_with("routes[].")) return "version: 1\nroutes: [{name: r}]\n";
  // Some sections are off by default. Setting any key of such a section turns the section on.
  const Key* above = find_key(path.substr(0, path.rfind('.')));
  const bool below_off = above != nullptr && above->path != path && above->standard == "off";
  return below_off ? file_with(above->path, "{}") : "version: 1\n";
}

// The product promises never to ignore a key, so a key that is accepted must change the settings.
TEST(EveryKey, every_key_changes_the_settings_and_survives_printing) {
  for (const Key& key : all_keys()) {
    const bool section = key.kind == Kind::mapping && key.words.empty();
    if (section || key.path == "version" || key.path == "routes" || key.path == "routes[].policy") continue;
    const std::string value = other_value(key);
    ASSERT_NE(value, "") << key.path << " needs a value in other_values()";
    const Settings settings = load(file_with(key.path, value));
    const std::string printed = effective_yaml(settings);
    EXPECT_NE(printed, effective_yaml(load(file_to_compare(key.path)))) << key.path;
    EXPECT_EQ(effective_yaml(load(printed)), printed) << key.path;
  }
}

TEST(EveryKey, every_key_of_defaults_works_in_a_policy_and_a_route) {
  for (const Key& key : all_keys()) {
    constexpr std::string_view defaults = "defaults.";
    const std::string value = other_value(key);
    if (!key.path.starts_with(defaults) || value.empty()) continue;
    const std::string body = nested(key.path.substr(defaults.size()), value);
    const std::string route = effective_yaml(load("version: 1\nroutes: [{name: r, " + body + "}]\n"));
    const std::string policy =
        effective_yaml(load("version: 1\npolicies: {p: {" + body + "}}\nroutes: [{name: r, policy: p}]\n"));
    EXPECT_EQ(route, policy) << key.path;
    EXPECT_NE(route, effective_yaml(load("version: 1\nroutes: [{name: r}]\n"))) << key.path;
  }
}

TEST(EveryKey, documented_default_of_every_key_is_its_actual_default) {
  const std::string plain = effective_yaml(built_in());
  for (const Key& key : all_keys()) {
    if (key.standard.empty() || key.path.find("[]") != std::string_view::npos) continue;
    // By default there is no parent proxy, so the keys of `parent` do not apply.
    if (key.path == "version" || key.path == "parent.ca_file" || key.path == "parent.except") continue;
    // Some sections are off by default. The documented defaults of their keys apply as soon as the section is
    // turned on.
    const Key* above = find_key(key.path.substr(0, key.path.rfind('.')));
    const bool below_off = above != nullptr && above->standard == "off";
    const bool in_intercept = key.path.starts_with("intercept.");
    const std::string expected =
        below_off || in_intercept
            ? effective_yaml(load(in_intercept ? file_with("intercept.hosts", "[a.test]")
                                               : file_with(above->path, "{}")))
            : plain;
    EXPECT_EQ(effective_yaml(load(file_with(key.path, std::string(key.standard)))), expected) << key.path;
  }
}

TEST(Effective, printed_settings_of_a_complex_file_load_back_unchanged) {
  const std::string text = R"(version: 1
listeners:
  - {mode: forward, bind: "[::1]:4128"}
  - {mode: gateway, bind: 127.0.0.1:4180, upstream: "http://[::1]:81/a", host: client}
defaults: {retry: {on: [4xx, 500-510, 599, reset], max_attempts: unlimited, attempt_timeout: 1.5s}, budget: off}
policies: {p: {idempotent: {any: [{header: "If-Match=\"a,b\""}, {query: "a=b:c"}, {json: "weird # key: {}"}, {method: POST}]}}}
routes:
  - name: one
    match: {host: "*.a.b", port: 8080, path: "/v1/{x}/**", methods: [GET, POST], query: [a, "b=:"], headers: ["X=null", "Y={[,]}", "Z=\\\"'#"]}
    policy: p
    budget: {ratio: 7%, floor: 0.5/s, window: 90s}
  - {name: "null", match: {host: c}, replay: {memory: 1500B}, idempotent: {all: [{json: "~"}]}}
)";
  const Settings settings = load(text);
  const std::string printed = effective_yaml(settings);
  const Settings again = load(printed);
  EXPECT_EQ(effective_yaml(again), printed);
  const auto& one = (*again.routes)[0];
  EXPECT_EQ(one.match.headers, (*settings.routes)[0].match.headers);
  EXPECT_EQ(one.policy.idempotent, (*settings.routes)[0].policy.idempotent);
  EXPECT_EQ(one.policy.retry.on, (*settings.routes)[0].policy.retry.on);
  EXPECT_EQ(one.policy.budget, (*settings.routes)[0].policy.budget);
  EXPECT_EQ(one.policy.idempotent.conditions[0].value, "\"a,b\"");
  EXPECT_EQ((*again.routes)[1].name, "null");
  EXPECT_EQ((*again.routes)[2].policy.retry.max_attempts, std::nullopt);
}

}  // namespace
}  // namespace reprise::config::reference_test
