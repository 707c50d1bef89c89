#include "proxy/tools/simulate/judged_kind.hpp"

#include "proxy/policy/match/methods.hpp"

#include <algorithm>
#include <string_view>

namespace reprise::tools {
namespace {

using policy::Idempotency;

// An empty JSON body, because neither a log nor a model has request bodies.
class NoBody final : public policy::JsonBody {
 public:
  bool has(std::string_view) const override { return false; }
};

class KindFields final : public policy::FieldLines {
 public:
  explicit KindFields(const RequestKind& kind) : kind_(kind) {}

  bool has(std::string_view name, std::string_view value) const override {
    return std::any_of(kind_.fields.begin(), kind_.fields.end(), [&](const auto& field) {
      const bool same_name = std::equal(name.begin(), name.end(), field.first.begin(), field.first.end(),
                                        [](char a, char b) { return lower(a) == lower(b); });
      return same_name && (value.empty() ? !field.second.empty() : field.second == value);
    });
  }

 private:
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

  const RequestKind& kind_;
};

}  // namespace

std::vector<JudgedKind> judge_kinds(std::span<const RequestKind> kinds, const policy::RouteTable& routes) {
  const NoBody nothing;
  std::vector<JudgedKind> all;
  for (const RequestKind& kind : kinds) {
    const KindFields fields(kind);
    policy::RequestView view{kind.method, kind.host, kind.port, kind.path, kind.query, &fields};
    view.is_call = kind.call;
    JudgedKind judged;
    judged.route = routes.find(view);
    judged.policy = &routes.policy_for(judged.route, view);
    const policy::IdempotencyRule& rule = judged.policy->idempotent;
    // A tunnel counts as idempotent, because only its dial is retried.
    judged.facts.idempotent = kind.tunnel ? Idempotency::yes : policy::judge(rule, view, &nothing);
    judged.facts.copyable = !kind.tunnel;
    judged.facts.safe_method = policy::is_safe_method(kind.method);
    judged.unknown = judged.facts.idempotent == Idempotency::no && !rule.conditions.empty();
    all.push_back(judged);
  }
  return all;
}

}  // namespace reprise::tools
