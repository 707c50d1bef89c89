#include "proxy/tools/inject/pod.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "proxy/tools/inject/environment.hpp"
#include "proxy/tools/inject/metadata.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {
namespace {

/// A kind of object that runs pods, its API groups, and the path to its pod spec.
struct Workload {
  std::string_view kind;
  std::array<std::string_view, 2> groups;
  std::string_view path;
};
constexpr Workload workloads[] = {
    {"Pod", {"v1", "v1"}, "spec"},
    {"ReplicationController", {"v1", "v1"}, "spec.template.spec"},
    {"Deployment", {"apps/", "extensions/"}, "spec.template.spec"},
    {"StatefulSet", {"apps/", "apps/"}, "spec.template.spec"},
    {"DaemonSet", {"apps/", "extensions/"}, "spec.template.spec"},
    {"ReplicaSet", {"apps/", "extensions/"}, "spec.template.spec"},
    {"Job", {"batch/", "batch/"}, "spec.template.spec"},
    {"CronJob", {"batch/", "batch/"}, "spec.jobTemplate.spec.template.spec"},
    {"PodTemplate", {"v1", "v1"}, "template.spec"},
    {"Rollout", {"argoproj.io/", "argoproj.io/"}, "spec.template.spec"},
    {"DeploymentConfig", {"apps.openshift.io/", "apps.openshift.io/"}, "spec.template.spec"},
};

/// Returns true if `version`, the apiVersion of an object, belongs to the API group. Kinds of other API
/// groups can have the same names.
bool is_of_group(std::string_view version, std::string_view group) {
  return version.empty() || (group.ends_with('/') ? version.starts_with(group) : version == group);
}

// Maximum number of nodes that a search visits. Nested aliases can make the tree of a small file huge.
constexpr std::size_t most_nodes = 100'000;

const Workload* workload_of(const Node& object) {
  for (const Workload& workload : workloads) {
    if (object.word("kind") != workload.kind) continue;
    for (const std::string_view group : workload.groups) {
      if (is_of_group(object.word("apiVersion"), group)) return &workload;
    }
  }
  return nullptr;
}

/// Returns true for a Rollout that refers to a Deployment and has no template.
bool makes_no_pods(const Node& object) {
  const Node* spec = object.word("kind") == "Rollout" ? object.find("spec") : nullptr;
  return spec != nullptr && spec->find("workloadRef") != nullptr && spec->find("template") == nullptr;
}

std::variant<Pod, Fault> pod_at(const Node& object, const Workload& workload) {
  const Node* at = &object;
  const Node* holder = at;
  std::string_view rest = workload.path;
  while (at != nullptr && !rest.empty()) {
    const std::size_t dot = rest.find('.');
    holder = at;
    at = at->find(rest.substr(0, dot));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  const Node* containers = at == nullptr ? nullptr : at->find("containers");
  if (containers != nullptr && containers->kind == Node::Kind::list && !containers->items.empty())
    return Pod{&object, holder, at};
  const Node* blamed = at == nullptr ? &object : at;
  return Fault{
      blamed->line, blamed->column,
      std::string(workload.kind) + ": " + std::string(workload.path) + ".containers is missing or empty"};
}

const Node* list_of(const Node& pod, std::string_view key) {
  const Node* list = pod.find(key);
  return list != nullptr && list->kind == Node::Kind::list ? list : nullptr;
}

/// Adds items at the front of the pod's list `key`. If the pod does not have this list, adds it as a new list
/// to `fresh`.
void put_in_list(const Node& pod, const std::string& key, const std::vector<std::string>& items, Edits& edits,
                 std::vector<Addition>& fresh) {
  std::vector<Addition> additions;
  additions.reserve(items.size());
  for (const std::string& item : items) additions.push_back({item, as_json(std::string_view(item))});
  const Entry* own = pod.own(key);
  if (const Node* there = list_of(pod, key)) {
    edits.add_items(*there, additions);
  } else if (own != nullptr) {
    edits.fill(*own, "[" + json_items(additions) + "]");
  } else {
    fresh.push_back(list_entry(key, additions));
  }
}

std::optional<Fault> misshapen(const Node& pod) {
  for (const std::string_view key : {"containers", "initContainers", "volumes"}) {
    const Node* list = pod.find(key);
    if (list == nullptr || (list->kind == Node::Kind::nothing && key != "containers")) continue;
    if (list->kind != Node::Kind::list)
      return Fault{list->line, list->column, std::string(key) + " is not a list"};
    for (const Node* item : list->items) {
      if (item->kind != Node::Kind::mapping || item->entries.empty())
        return Fault{item->line, item->column, "an entry of " + std::string(key) + " is not a mapping"};
      const std::string_view name = item->word("name");
      if (key == "volumes" && (name == config_volume || name == replay_volume))
        return Fault{item->line, item->column,
                     "the pod has a volume " + std::string(name) + ", but no container reprise"};
    }
  }
  return std::nullopt;
}

void add_pull_secret(const Node& pod, const Sidecar& sidecar, Edits& edits, std::vector<Addition>& fresh,
                     Undo& undo) {
  if (sidecar.pull_secret.empty()) return;
  const std::string key = "imagePullSecrets";
  const Node* there = list_of(pod, key);
  const Entry* own = pod.own(key);
  if (there != nullptr) {
    for (const Node* one : there->items)
      if (one->word("name") == sidecar.pull_secret) return;
    undo.had_list(key + ".list");
  } else if (own != nullptr && own->value->kind == Node::Kind::nothing) {
    undo.had_null(key + ".list", edits.written_null(*own));
  }
  undo.added_one(key, sidecar.pull_secret);
  put_in_list(pod, key, {"name: " + json_string(sidecar.pull_secret) + "\n"}, edits, fresh);
}

/// Returns the first path below `node` to a list called `containers` whose first item has an image.
std::string path_to_containers(const Node& node, const std::string& path, std::size_t depth,
                               std::size_t& steps) {
  if (depth == 0 || ++steps > most_nodes) return {};
  for (const Entry& entry : node.entries) {
    std::string at = path.empty() ? entry.key->text : path + "." + entry.key->text;
    const Node& value = *entry.value;
    if (entry.key->text == "containers" && value.kind == Node::Kind::list && !value.items.empty() &&
        !value.items[0]->word("image").empty())
      return at;
    std::string found = path_to_containers(value, at, depth - 1, steps);
    for (const Node* item : value.items)
      if (found.empty()) found = path_to_containers(*item, at, depth - 1, steps);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string unknown_containers(const Node& object) {
  std::size_t steps = 0;
  return workload_of(object) != nullptr ? std::string() : path_to_containers(object, {}, 12, steps);
}

std::string obstacle(const Pod& pod) {
  for (const Node* one : {pod.object, pod.holder}) {
    const Node* metadata = one->find("metadata");
    for (const std::string_view list : {"labels", "annotations"}) {
      const Node* there = metadata == nullptr ? nullptr : metadata->find(list);
      if (there != nullptr && there->word(inject_key) == "false")
        return std::string(inject_key) + " is \"false\"";
    }
  }
  if (pod.spec->word("hostNetwork") == "true")
    return "it uses hostNetwork, so reprise would use the ports of the node";
  const Node* os = pod.spec->find("os");
  const Node* selector = pod.spec->find("nodeSelector");
  if ((os != nullptr && os->word("name") == "windows") ||
      (selector != nullptr && selector->word("kubernetes.io/os") == "windows"))
    return "it is a Windows pod";
  return {};
}

bool is_list(const Node& object) {
  const Node* items = object.find("items");
  return object.word("kind").ends_with("List") && items != nullptr && items->kind == Node::Kind::list;
}

bool is_sidecar(const Node& container) { return container.word("restartPolicy") == "Always"; }

bool is_injected(const Node& pod) {
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Node* list = list_of(pod, key);
    if (list != nullptr && std::any_of(list->items.begin(), list->items.end(),
                                       [](const Node* one) { return one->word("name") == container_name; }))
      return true;
  }
  return false;
}

std::variant<std::vector<Pod>, Fault> pods_of(const Node& object) {
  std::vector<Pod> pods;
  if (is_list(object)) {
    for (const Node* item : object.find("items")->items) {
      auto found = pods_of(*item);
      if (std::holds_alternative<Fault>(found)) return found;
      const auto& more = std::get<0>(found);
      pods.insert(pods.end(), more.begin(), more.end());
    }
    return pods;
  }
  const Workload* workload = workload_of(object);
  if (workload == nullptr || makes_no_pods(object)) return pods;
  const auto pod = pod_at(object, *workload);
  if (const Fault* fault = std::get_if<Fault>(&pod)) return *fault;
  pods.push_back(std::get<Pod>(pod));
  return pods;
}

std::variant<std::vector<Fault>, Fault> inject_pod(const Pod& whole, const Sidecar& sidecar, UndoForm form,
                                                   MetadataForm metadata, Edits& edits) {
  const Node& pod = *whole.spec;
  if (const auto fault = misshapen(pod)) return *fault;
  std::vector<Fault> remarks;
  Undo undo;
  for (const std::string key : {"initContainers", "containers"}) {
    const Node* list = list_of(pod, key);
    if (list == nullptr) continue;
    std::size_t number = 0;
    for (const Node* container : list->items) {
      const std::string place = key + "." + std::to_string(number++) + ".env";
      if (key == "initContainers" && is_sidecar(*container)) continue;
      if (const auto fault = edit_environment(*container, place, edits, remarks, undo)) return *fault;
    }
  }
  for (const std::string key : {"initContainers", "volumes"}) {
    const Entry* own = pod.own(key);
    if (list_of(pod, key) != nullptr) undo.had_list(key);
    if (own != nullptr && own->value->kind == Node::Kind::nothing)
      undo.had_null(key, edits.written_null(*own));
  }
  if (metadata != MetadataForm::left_out) {
    Sidecar shown = sidecar;
    shown.has_label = sidecar.has_label && metadata == MetadataForm::whole;
    edit_metadata(whole, shown, edits, remarks, undo);
  }
  std::vector<Addition> fresh;
  add_pull_secret(pod, sidecar, edits, fresh, undo);
  if (form != UndoForm::whole) undo.drop_counts();
  const std::string facts = form == UndoForm::left_out ? std::string() : undo.json();
  put_in_list(pod, "initContainers", {container_text(sidecar, facts)}, edits, fresh);
  put_in_list(pod, "volumes", volume_texts(sidecar), edits, fresh);
  std::size_t before = 0;
  for (std::size_t i = 0; i < pod.entries.size(); ++i) {
    if (pod.entries[i].key->text == "containers") before = i;
  }
  if (!fresh.empty()) edits.add_entries(pod, before, fresh);
  if (edits.fault()) return *edits.fault();
  return remarks;
}

}  // namespace reprise::tools
