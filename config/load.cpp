#include "config/load.hpp"

#include <algorithm>
#include <utility>

#include "config/checks.hpp"
#include "config/clear_text.hpp"
#include "config/deny.hpp"
#include "config/intercept.hpp"
#include "config/keys/collector.hpp"
#include "config/keys/fields.hpp"
#include "config/keys/keys.hpp"
#include "config/keys/parent.hpp"
#include "config/listeners.hpp"
#include "config/reader.hpp"
#include "config/shape.hpp"
#include "config/yaml/file_text.hpp"
#include "config/yaml/replace.hpp"
#include "config/yaml/yaml_mistake.hpp"

namespace reprise::config {
namespace {

// Returns the first 12 hex digits of the 64-bit FNV-1a hash. The result is the same in every build. It
// distinguishes versions of a configuration, but is not a signature.
std::string hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned shift = 64; text.size() < 12;) text.push_back(digits[(hash >> (shift -= 4)) & 15U]);
  return text;
}

Settings build(const Node& root, const Node& over_routes, Report& report) {
  Settings settings;
  Reader reader(root, {});
  process_fields(reader, settings);
  settings.listeners = build_listeners(root, settings, report);
  BuiltRoutes built = build_routes(root, over_routes, report);
  check_routes(built, settings, root, report);
  check_clear_text(built, report);
  check_deny(root, settings.security.deny, report);
  check_intercept(root, report);
  check_parent(root, report);
  check_collector(root, settings, report);
  policy::Route fallback = std::move(built.routes.back());
  built.routes.pop_back();
  settings.routes = std::make_shared<const policy::RouteTable>(std::move(built.routes), std::move(fallback));
  return settings;
}

std::optional<Place> place_of(const Node& root, std::string_view path) {
  const Node* node = locate(root, path);
  return node == nullptr ? std::nullopt : std::optional(Place{node->line, node->column});
}

// Collects the values of keys whose kind is a file or a folder. `schema` is the path in the key table.
void find_named(const Node& node, const std::string& path, const std::string& schema,
                std::vector<NamedFile>& named) {
  for (const Entry& entry : node.entries) {
    const std::string own = child_path(path, entry.key);
    const std::string own_schema = schema == "policies" ? "policies.*" : child_path(schema, entry.key);
    const Key* const key = find_key(own_schema);
    const bool names = key != nullptr && (key->kind == Kind::file || key->kind == Kind::folder);
    if (names && entry.value.kind == Node::Kind::scalar)
      named.push_back({own, entry.value.text, {entry.value.line, entry.value.column}});
    if (own == "intercept.hosts") named.push_back({own, {}, {entry.value.line, entry.value.column}});
    find_named(entry.value, own, own_schema, named);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i)
    find_named(node.items[i], path + "[" + std::to_string(i) + "]", schema + "[]", named);
}

std::optional<Settings> read(std::string_view text, const Environment& environment, GivenValues& given,
                             Report& report, Loaded& places) {
  auto root = parse_document(text, report);
  if (!root && report.has_errors()) return std::nullopt;
  const bool empty = !root || root->kind == Node::Kind::nothing;
  if (!empty && root->kind != Node::Kind::mapping) {
    const std::string mended = with_blank_behind_colon(root->text);
    report.error(root->line, root->column, {},
                 "a configuration is a mapping of keys, such as version: 1" +
                     did_you_mean(printable(mended.substr(0, 60))));
    return std::nullopt;
  }
  if (empty) root = Node{};
  if (root->find("version") == nullptr)
    report.error(1, 1, {}, "version: 1 is missing: write it at the top of the file");
  replace_all(*root, environment, report);
  read_yaml_1_1(*root);
  read_renamed_keys(*root, report);
  given.put_into(*root);
  check_shape(*root, report);
  places.replay_memory = place_of(*root, "limits.replay_memory");
  places.stream_memory = place_of(*root, "limits.stream_memory");
  places.threads = place_of(*root, "threads");
  places.otlp = place_of(*root, "trace.otlp");
  find_named(*root, {}, {}, places.named);
  return build(*root, given.over_routes(), report);
}

// Adds the certificates and keys that the routes, the parent and the local authority use, without duplicates.
void add_files_of(const Settings& settings, std::vector<std::string>& files) {
  const auto add = [&](const std::optional<std::string>& file) {
    if (file && std::find(files.begin(), files.end(), *file) == files.end()) files.push_back(*file);
  };
  const auto add_tls = [&](const policy::TlsPolicy& tls) {
    for (const auto& file : {tls.ca_file, tls.certificate, tls.key}) add(file);
  };
  for (std::size_t i = 0; i < settings.routes->size(); ++i) add_tls((*settings.routes)[i].policy.tls);
  if (settings.parent && settings.parent->tls) add_tls(*settings.parent->tls);
  if (!settings.intercept) return;
  add(settings.intercept->certificate);
  add(settings.intercept->key);
}

}  // namespace

Loaded load_text(std::string_view text, const Environment& environment, const Flags& flags) {
  Report report;
  GivenValues given(flags, environment, report);
  Loaded loaded;
  loaded.hash = hash_of(text);
  loaded.settings = read(text, environment, given, report, loaded);
  if (report.has_errors()) loaded.settings.reset();
  loaded.files = report.take_files();
  if (loaded.settings) add_files_of(*loaded.settings, loaded.files);
  loaded.problems = report.take();
  given.name_sources(loaded.problems);
  loaded.given = given.take();
  return loaded;
}

Loaded load_file(const std::string& path, const Environment& environment, const Flags& flags) {
  const FileText file = text_of_file(path, largest_file);
  if (file.trouble.empty()) return load_text(file.text, environment, flags);
  Loaded unreadable;
  unreadable.problems.push_back(
      {Problem::Severity::error, 0, 0, {}, "cannot read the file: " + file.trouble});
  return unreadable;
}

Settings built_in() {
  Settings settings;
  policy::Route fallback;
  fallback.name = "default";
  settings.routes =
      std::make_shared<const policy::RouteTable>(std::vector<policy::Route>{}, std::move(fallback));
  return settings;
}

}  // namespace reprise::config
