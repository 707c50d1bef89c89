#include "proxy/tools/inject/sameness.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "proxy/tools/inject/environment.hpp"
#include "proxy/tools/inject/metadata.hpp"
#include "proxy/tools/inject/pod.hpp"

namespace reprise::tools {
namespace {

// Maximum number of node comparisons. Nested aliases can make the tree of a small file huge.
constexpr std::size_t most_steps = 4'000'000;

class Comparison {
 public:
  explicit Comparison(const std::vector<Pod>& pods) {
    for (const Pod& pod : pods) {
      pods_.push_back(pod.spec);
      holders_.push_back(pod.holder);
    }
  }

  std::optional<Fault> fault;

  bool same(const Node& before, const Node& after) {
    if (std::find(pods_.begin(), pods_.end(), &before) != pods_.end()) return same_pod(before, after);
    if (!alike(before, after)) return false;
    if (std::find(holders_.begin(), holders_.end(), &before) != holders_.end())
      return same_holder(before, after);
    if (before.items.size() != after.items.size() || before.entries.size() != after.entries.size())
      return differs(before);
    for (std::size_t i = 0; i < before.items.size(); ++i) {
      if (!same(*before.items[i], *after.items[i])) return false;
    }
    return same_entries(before, after, {}, [this](const std::string&, const Node& one, const Node& other) {
      return same(one, other);
    });
  }

 private:
  bool differs(
      const Node& before,
      std::string message =
          "the edit would also change this through an anchor or a merge key: write the shared values out") {
    if (!fault) fault = Fault{before.line, before.column, std::move(message)};
    return false;
  }

  bool alike(const Node& before, const Node& after) {
    if (++steps_ > most_steps)
      return differs(before, "too large to compare: does it have aliases of aliases?");
    return (before.kind == after.kind && before.text == after.text && before.is_quoted == after.is_quoted) ||
           differs(before);
  }

  /// Returns true if `after` has all entries of `before` in the same order. Any additional entry of `after`
  /// must have a key from `more`.
  template <typename Judge>
  bool same_entries(const Node& before, const Node& after, const std::vector<std::string_view>& more,
                    Judge judge) {
    std::size_t next = 0;
    for (const Entry& entry : before.entries) {
      while (next < after.entries.size() && after.entries[next].key->text != entry.key->text) {
        if (std::find(more.begin(), more.end(), after.entries[next].key->text) == more.end())
          return differs(before);
        ++next;
      }
      if (next == after.entries.size()) return differs(*entry.key);
      if (!judge(entry.key->text, *entry.value, *after.entries[next++].value)) return false;
    }
    return std::all_of(after.entries.begin() + static_cast<std::ptrdiff_t>(next), after.entries.end(),
                       [&](const Entry& entry) {
                         return std::find(more.begin(), more.end(), entry.key->text) != more.end();
                       }) ||
           differs(before);
  }

  /// Returns true if `after` has all items of `before`. The items that `after` has in addition must be at its
  /// front if `at_front`, otherwise at its end.
  template <typename Judge>
  bool same_items(const Node& before, const Node& after, bool at_front, Judge judge) {
    const bool was_empty = before.kind == Node::Kind::nothing;
    if (after.kind != Node::Kind::list || (before.kind != after.kind && !was_empty) ||
        after.items.size() < before.items.size())
      return differs(before);
    const std::size_t added = after.items.size() - before.items.size();
    for (std::size_t i = 0; i < before.items.size(); ++i) {
      if (!judge(*before.items[i], *after.items[at_front ? i + added : i])) return false;
    }
    return true;
  }

  /// Compares two mappings. `before` may also be a null value.
  template <typename Judge>
  bool same_mapping(const Node& before, const Node& after, const std::vector<std::string_view>& more,
                    Judge judge) {
    if (after.kind != Node::Kind::mapping ||
        (before.kind != after.kind && before.kind != Node::Kind::nothing))
      return same(before, after);
    return same_entries(before, after, more, judge);
  }

  /// Compares two nodes that have the metadata and the spec of a pod. `after` may have the annotations and
  /// labels of reprise in addition, and its list of evictable volumes may be longer.
  bool same_holder(const Node& before, const Node& after) {
    return same_entries(
        before, after, {"metadata"}, [this](const std::string& key, const Node& one, const Node& other) {
          if (key != "metadata") return same(one, other);
          return same_mapping(one, other, {"annotations", "labels"},
                              [this](const std::string& list, const Node& a, const Node& b) {
                                return list == "annotations" || list == "labels" ? same_list(list, a, b)
                                                                                 : same(a, b);
                              });
        });
  }

  bool same_list(const std::string& list, const Node& before, const Node& after) {
    static const std::vector<std::string_view> of_annotations = metadata_keys("annotations");
    static const std::vector<std::string_view> of_labels = metadata_keys("labels");
    return same_mapping(
        before, after, list == "labels" ? of_labels : of_annotations,
        [this](const std::string& key, const Node& one, const Node& other) {
          return key == eviction_key && other.text.ends_with(replay_volume) ? true : same(one, other);
        });
  }

  bool same_pod(const Node& before, const Node& after) {
    if (is_injected(before)) {
      pods_.erase(std::find(pods_.begin(), pods_.end(), &before));
      return same(before, after);
    }
    const Node* fresh = after.find("initContainers");
    if (fresh == nullptr || fresh->items.empty() || fresh->items[0]->word("name") != container_name)
      return differs(before);
    return same_entries(
        before, after, {"initContainers", "volumes", "imagePullSecrets"},
        [this](const std::string& key, const Node& one, const Node& other) {
          if (key == "volumes" || key == "imagePullSecrets")
            return same_items(one, other, true, [this](const Node& a, const Node& b) { return same(a, b); });
          if (key != "containers" && key != "initContainers") return same(one, other);
          return same_items(one, other, true, [this, &key](const Node& a, const Node& b) {
            return key == "initContainers" && is_sidecar(a) ? same(a, b) : same_container(a, b);
          });
        });
  }

  bool same_container(const Node& before, const Node& after) {
    return same_entries(
        before, after, {"env"}, [this](const std::string& key, const Node& one, const Node& other) {
          if (key == "<<" && one.kind == Node::Kind::mapping) return same_container(one, other);
          if (key != "env") return same(one, other);
          return same_items(one, other, !is_prefix_by_name(one, other), [this](const Node& a, const Node& b) {
            if (!is_proxy_variable(a.word("name")) || a.find("valueFrom") != nullptr) return same(a, b);
            return a.word("name") == b.word("name") || differs(a);
          });
        });
  }

  /// Returns true if the first items of `after` have the same names as the items of `before`. In this case,
  /// the added items are at the end. Older versions of reprise added items at the front.
  static bool is_prefix_by_name(const Node& before, const Node& after) {
    return before.items.size() <= after.items.size() &&
           std::equal(before.items.begin(), before.items.end(), after.items.begin(),
                      [](const Node* a, const Node* b) { return a->word("name") == b->word("name"); });
  }

  std::vector<const Node*> pods_;
  std::vector<const Node*> holders_;
  std::size_t steps_ = 0;
};

}  // namespace

std::optional<Fault> first_difference(const Node& before, const Node& after) {
  auto pods = pods_of(before);
  Comparison comparison(std::get<0>(pods));
  if (comparison.same(before, after)) return std::nullopt;
  return comparison.fault.value_or(
      Fault{before.line, before.column,
            "this part of the manifest cannot be edited without changing another part: edit it by hand"});
}

}  // namespace reprise::tools
