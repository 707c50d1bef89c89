#include "proxy/tools/inject/removal.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/tools/inject/environment.hpp"
#include "proxy/tools/inject/metadata.hpp"
#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/sidecar.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {
namespace {

using Places = std::vector<std::size_t>;

const Node* block_or_braces(const Node& mapping, std::string_view key) {
  const Node* list = mapping.find(key);
  return list != nullptr && list->kind == Node::Kind::list ? list : nullptr;
}

template <typename Predicate>
Places places_of(const Node& list, Predicate is_ours) {
  Places places;
  for (std::size_t i = 0; i < list.items.size(); ++i)
    if (is_ours(*list.items[i])) places.push_back(i);
  return places;
}

/// Removes the items at the indexes `ours` from the list `key`. If no other items remain and the list did not
/// exist before inject(), removes the key too, or restores the null that was its value.
void take_out(const Node& mapping, const std::string& key, const Places& ours, const std::string& place,
              const Undo& undo, Edits& edits) {
  const Node& list = *mapping.find(key);
  if (ours.empty()) return;
  if (ours.size() < list.items.size() || undo.is_list(place)) return edits.remove_items(list, ours);
  const Entry* entry = mapping.own(key);
  if (entry == nullptr) return edits.remove_items(list, ours);
  if (const auto written = undo.null(place)) return edits.put_value(*entry, *written);
  edits.remove_entry(mapping, key);
}

/// Restores the value of one variable if inject() replaced it.
void put_back(const Node& variable, const std::string& place, const Undo& undo, Edits& edits) {
  const Entry* value = variable.own("value");
  if (value == nullptr) return;
  if (const auto written = undo.value(place)) return edits.replace_as_written(*value->value, *written);
  if (const auto written = undo.null(place)) return edits.put_value(*value, *written);
  if (undo.is_none(place)) edits.remove_entry(variable, "value");
}

void take_out_environment(const Node& container, const std::string& place, const Undo& undo, Edits& edits) {
  const Node* env = block_or_braces(container, "env");
  if (env == nullptr) return;
  const std::size_t all = env->items.size();
  Added added = added_variables(*env);
  if (const auto behind = undo.count_at_end(place)) {
    const std::size_t count = std::min(*behind, all);
    added = {all - count, count};
  } else if (const auto in_front = undo.count_at_front(place)) {
    added = {0, std::min(*in_front, all)};
  }
  Places ours;
  for (std::size_t i = 0; i < added.count; ++i) ours.push_back(added.first + i);
  for (std::size_t i = 0; i < all; ++i) {
    if (i >= added.first && i < added.first + added.count) continue;
    put_back(*env->items[i], place + "." + std::string(env->items[i]->word("name")), undo, edits);
  }
  take_out(container, "env", ours, place, undo, edits);
}

}  // namespace

const Node* our_container(const Node& pod) {
  const Node* list = block_or_braces(pod, "initContainers");
  if (list == nullptr) return nullptr;
  for (const Node* container : list->items) {
    if (container->word("name") != container_name || !is_sidecar(*container)) continue;
    const Node* mounts = block_or_braces(*container, "volumeMounts");
    if (mounts != nullptr && std::any_of(mounts->items.begin(), mounts->items.end(), [](const Node* mount) {
          return mount->word("name") == config_volume;
        }))
      return container;
  }
  return nullptr;
}

std::optional<Fault> remove_from_pod(const Pod& whole, Edits& edits) {
  const Node& pod = *whole.spec;
  const Node* const ours = our_container(pod);
  const Undo undo = Undo::read_from(*ours);
  for (const std::string key : {"initContainers", "containers"}) {
    const Node* list = block_or_braces(pod, key);
    if (list == nullptr) continue;
    std::size_t number = 0;
    for (const Node* container : list->items) {
      if (container == ours) continue;
      const std::string place = key + "." + std::to_string(number++) + ".env";
      if (key == "initContainers" && is_sidecar(*container)) continue;
      take_out_environment(*container, place, undo, edits);
    }
  }
  take_out(pod, "initContainers",
           places_of(*pod.find("initContainers"), [&](const Node& one) { return &one == ours; }),
           "initContainers", undo, edits);
  if (const Node* volumes = block_or_braces(pod, "volumes"))
    take_out(pod, "volumes",
             places_of(*volumes,
                       [](const Node& one) {
                         return one.word("name") == config_volume || one.word("name") == replay_volume;
                       }),
             "volumes", undo, edits);
  const auto secret = undo.one_added("imagePullSecrets");
  if (const Node* secrets = block_or_braces(pod, "imagePullSecrets"); secret && secrets != nullptr)
    take_out(pod, "imagePullSecrets",
             places_of(*secrets, [&](const Node& one) { return one.word("name") == *secret; }),
             "imagePullSecrets.list", undo, edits);
  remove_metadata(whole, undo, edits);
  return edits.fault();
}

}  // namespace reprise::tools
