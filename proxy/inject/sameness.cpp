#include "proxy/inject/sameness.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "proxy/inject/environment.hpp"
#include "proxy/inject/pod.hpp"

namespace reprise::inject {
namespace {

// Aliases of aliases can make a small file huge.
constexpr std::size_t most_steps = 4'000'000;

class Comparison {
 public:
  explicit Comparison(std::vector<const Node*> pods) : pods_(std::move(pods)) {}

  std::optional<Fault> fault;

  bool same(const Node& before, const Node& after) {
    if (std::find(pods_.begin(), pods_.end(), &before) != pods_.end()) return same_pod(before, after);
    if (!alike(before, after)) return false;
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
  bool differs(const Node& before,
               std::string message =
                   "this would have changed with the edit: write out what anchors and merge keys bring") {
    if (!fault) fault = Fault{before.line, before.column, std::move(message)};
    return false;
  }

  bool alike(const Node& before, const Node& after) {
    if (++steps_ > most_steps) return differs(before, "too much to compare: are there aliases of aliases?");
    return (before.kind == after.kind && before.text == after.text && before.is_quoted == after.is_quoted) ||
           differs(before);
  }

  /// Every entry is there, in order; `more` may have come in addition.
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

  /// What was added stands at the front.
  template <typename Judge>
  bool same_items(const Node& before, const Node& after, Judge judge) {
    const bool was_empty = before.kind == Node::Kind::nothing;
    if (after.kind != Node::Kind::list || (before.kind != after.kind && !was_empty) ||
        after.items.size() < before.items.size())
      return differs(before);
    const std::size_t added = after.items.size() - before.items.size();
    for (std::size_t i = 0; i < before.items.size(); ++i) {
      if (!judge(*before.items[i], *after.items[i + added])) return false;
    }
    return true;
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
        before, after, {"initContainers", "volumes"},
        [this](const std::string& key, const Node& one, const Node& other) {
          if (key == "volumes")
            return same_items(one, other, [this](const Node& a, const Node& b) { return same(a, b); });
          if (key != "containers" && key != "initContainers") return same(one, other);
          return same_items(one, other, [this, &key](const Node& a, const Node& b) {
            return key == "initContainers" && is_sidecar(a) ? same(a, b) : same_container(a, b);
          });
        });
  }

  bool same_container(const Node& before, const Node& after) {
    return same_entries(before, after, {"env"},
                        [this](const std::string& key, const Node& one, const Node& other) {
                          if (key == "<<" && one.kind == Node::Kind::mapping)
                            return same_container(one, other);
                          if (key != "env") return same(one, other);
                          return same_items(one, other, [this](const Node& a, const Node& b) {
                            if (!is_proxy_variable(a.word("name")) || a.find("valueFrom") != nullptr)
                              return same(a, b);
                            return a.word("name") == b.word("name") || differs(a);
                          });
                        });
  }

  std::vector<const Node*> pods_;
  std::size_t steps_ = 0;
};

}  // namespace

std::optional<Fault> first_difference(const Node& before, const Node& after) {
  auto pods = pods_of(before);
  Comparison comparison(std::get<0>(std::move(pods)));
  if (comparison.same(before, after)) return std::nullopt;
  return comparison.fault.value_or(Fault{before.line, before.column, "it cannot be edited"});
}

}  // namespace reprise::inject
