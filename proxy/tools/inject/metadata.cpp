#include "proxy/tools/inject/metadata.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "proxy/tools/inject/options.hpp"

namespace reprise::tools {
namespace {

constexpr std::string_view port_key = "prometheus.io/port";
constexpr std::string_view admin_port = "3129";

using Places = std::vector<std::size_t>;

/// Returns the text as a YAML block scalar. If a block scalar would not have exactly this value, returns the
/// text as a quoted scalar.
std::string block_value(const std::string& text) {
  const bool is_plain = text.find_first_of("\r\t") == std::string::npos && text.ends_with('\n') &&
                        !text.ends_with("\n\n") && text[0] != ' ' && text[0] != '\n' &&
                        text.find(" \n") == std::string::npos;
  if (!is_plain) return json_string(text);
  std::string block = "|\n" + indented(text, 2);
  block.pop_back();
  return block;
}

Addition entry(std::string_view key, const std::string& value) {
  const bool has_lines = value.find('\n') != std::string::npos;
  return {std::string(key) + ": " + (has_lines ? block_value(value) : json_string(value)) + "\n",
          json_string(key) + ": " + json_string(value)};
}

bool names_volume(std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == replay_volume) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// Collects additions to the annotations and labels of a pod.
class Metadata {
 public:
  Metadata(const Pod& pod, Edits& edits, std::vector<Fault>& remarks, Undo& undo)
      : pod_(pod), metadata_(pod.metadata()), edits_(edits), remarks_(remarks), undo_(undo) {}

  void let_autoscalers_evict() {
    const Node* there = find("annotations", eviction_key);
    const std::string place = metadata_place("annotations", eviction_key);
    if (there == nullptr) {
      annotations_.push_back(entry(eviction_key, std::string(replay_volume)));
    } else if (names_volume(there->text) || there->kind != Node::Kind::scalar) {
      undo_.had(place);
    } else {
      undo_.had_value(place,
                      edits_.replace(*there, json_string(there->text + "," + std::string(replay_volume))));
    }
  }

  void carry(const std::string& config) {
    if (!config.empty()) {
      annotations_.push_back(entry(config_key, config));
    } else if (find("annotations", config_key) != nullptr) {
      undo_.had(metadata_place("annotations", config_key));
    }
  }

  void let_prometheus_scrape() {
    const std::array<std::pair<std::string_view, std::string_view>, 2> wanted{
        std::pair{scrape_key, std::string_view("true")}, std::pair{port_key, admin_port}};
    for (const auto& [key, value] : wanted) {
      const Node* there = find("annotations", key);
      if (there == nullptr || there->text == value) continue;
      remarks_.push_back({there->line, there->column,
                          "the annotation " + std::string(key) +
                              " belongs to the application and is left unchanged: use a PodMonitor, which "
                              "finds reprise at the port reprise-admin"});
      return;
    }
    for (const auto& [key, value] : wanted) {
      if (find("annotations", key) != nullptr) continue;
      annotations_.push_back(entry(key, std::string(value)));
      undo_.added_one(metadata_place("annotations", key), "");
    }
  }

  void label() {
    if (find("labels", inject_key) != nullptr) return;
    labels_.push_back(entry(inject_key, "true"));
    undo_.added_one(metadata_place("labels", inject_key), "");
  }

  void write() {
    std::vector<Addition> fresh;
    write("labels", labels_, fresh);
    write("annotations", annotations_, fresh);
    if (fresh.empty()) return;
    const Entry* own = pod_.holder->own("metadata");
    if (own != nullptr && own->value->kind == Node::Kind::nothing) {
      undo_.had_null("metadata", edits_.written_null(*own));
      edits_.fill(*own, "{" + json_items(fresh) + "}");
    } else if (own != nullptr || metadata_ != nullptr) {
      if (metadata_->entries.empty()) undo_.had_list("metadata");
      if (metadata_->kind == Node::Kind::mapping) edits_.add_entries(*metadata_, place_in(*metadata_), fresh);
    } else {
      std::size_t spec = 0;
      while (pod_.holder->entries[spec].value != pod_.spec && spec + 1 < pod_.holder->entries.size()) ++spec;
      edits_.add_entries(*pod_.holder, spec, {mapping_entry("metadata", fresh)});
    }
  }

 private:
  const Node* find(std::string_view list, std::string_view key) const {
    const Node* mapping = metadata_ == nullptr ? nullptr : metadata_->find(list);
    return mapping == nullptr ? nullptr : mapping->find(key);
  }

  /// Returns the index before which new entries are added: 1 if the first entry is `name`, otherwise 0.
  static std::size_t place_in(const Node& metadata) {
    return metadata.entries.size() > 1 && metadata.entries[0].key->text == "name" ? 1 : 0;
  }

  void write(const std::string& list, const std::vector<Addition>& entries, std::vector<Addition>& fresh) {
    if (entries.empty()) return;
    const Node* there = metadata_ == nullptr ? nullptr : metadata_->find(list);
    if (there == nullptr) {
      fresh.push_back(mapping_entry(list, entries));
    } else if (there->kind == Node::Kind::mapping) {
      if (there->entries.empty()) undo_.had_list(list);
      edits_.add_entries(*there, 0, entries);
    } else if (const Entry* own = metadata_->own(list)) {
      undo_.had_null(list, edits_.written_null(*own));
      edits_.fill(*own, "{" + json_items(entries) + "}");
    }
  }

  const Pod& pod_;
  const Node* metadata_;
  Edits& edits_;
  std::vector<Fault>& remarks_;
  Undo& undo_;
  std::vector<Addition> annotations_;
  std::vector<Addition> labels_;
};

/// Returns true if inject() added the entry, according to the entry's value and the facts that inject()
/// recorded.
bool is_ours(std::string_view list, const Entry& one, const Undo& undo, bool carries_config) {
  const std::string& key = one.key->text;
  const std::string place = metadata_place(list, key);
  if (undo.is_had(place)) return false;
  if (list == "annotations" && key == eviction_key) return one.value->text == replay_volume;
  if (list == "annotations" && key == config_key) return carries_config;
  return undo.one_added(place).has_value();
}

bool carries_config(const Pod& pod) {
  const Node* volumes = pod.spec->find("volumes");
  return volumes != nullptr && std::any_of(volumes->items.begin(), volumes->items.end(), [](const Node* one) {
           return one->word("name") == config_volume && one->find("downwardAPI") != nullptr;
         });
}

/// Removes the entries that inject() added to `list`, which is `annotations` or `labels`. Returns true if no
/// other entries remain and the caller must remove the whole list.
bool take_out(const Pod& pod, const Node& metadata, const std::string& list, const Undo& undo, Edits& edits) {
  const Entry* own = metadata.own(list);
  const Node* there = metadata.find(list);
  if (there == nullptr || there->kind != Node::Kind::mapping) return false;
  const bool carries = carries_config(pod);
  Places ours;
  for (std::size_t i = 0; i < there->entries.size(); ++i) {
    const Entry& one = there->entries[i];
    if (is_ours(list, one, undo, carries)) ours.push_back(i);
    if (const auto written = undo.value(metadata_place(list, one.key->text)))
      edits.replace_as_written(*one.value, *written);
  }
  if (ours.empty()) return false;
  if (ours.size() == there->entries.size() && own != nullptr && !undo.is_list(list)) {
    const auto written = undo.null(list);
    if (written) edits.put_value(*own, *written);
    return !written;
  }
  edits.remove_entries(*there, ours);
  return false;
}

}  // namespace

std::string metadata_place(std::string_view list, std::string_view key) {
  return std::string(list).append(".").append(key);
}

std::vector<std::string_view> metadata_keys(std::string_view list) {
  if (list == "labels") return {inject_key};
  return {eviction_key, config_key, scrape_key, port_key};
}

void edit_metadata(const Pod& pod, const Sidecar& sidecar, Edits& edits, std::vector<Fault>& remarks,
                   Undo& undo) {
  Metadata metadata(pod, edits, remarks, undo);
  metadata.let_autoscalers_evict();
  metadata.carry(sidecar.config);
  if (sidecar.is_scraped) metadata.let_prometheus_scrape();
  if (sidecar.has_label) metadata.label();
  metadata.write();
}

void remove_metadata(const Pod& pod, const Undo& undo, Edits& edits) {
  const Node* metadata = pod.metadata();
  if (metadata == nullptr || metadata->kind != Node::Kind::mapping) return;
  Places emptied;
  for (std::size_t i = 0; i < metadata->entries.size(); ++i) {
    const std::string& key = metadata->entries[i].key->text;
    if ((key == "annotations" || key == "labels") && take_out(pod, *metadata, key, undo, edits))
      emptied.push_back(i);
  }
  if (emptied.empty()) return;
  const Entry* own = pod.holder->own("metadata");
  if (emptied.size() < metadata->entries.size() || own == nullptr || undo.is_list("metadata"))
    return edits.remove_entries(*metadata, emptied);
  if (const auto written = undo.null("metadata")) return edits.put_value(*own, *written);
  edits.remove_entry(*pod.holder, "metadata");
}

}  // namespace reprise::tools
