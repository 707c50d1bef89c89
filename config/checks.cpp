#include "config/checks.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/keys/call_words.hpp"
#include "config/keys/scalar.hpp"
#include "config/reach.hpp"
#include "config/reader.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/methods.hpp"
#include "proxy/policy/pacing/backoff.hpp"

namespace reprise::config {
namespace {

using policy::Condition;
using policy::IdempotencyRule;
using policy::Route;

struct Blame {
  std::size_t line = 0;
  std::size_t column = 0;
  std::string path;
};

// Returns true if the shape check has rejected the node. The settings then do not have the value that the
// author wrote, and a further message would mislead.
bool is_refused(const Node& node, std::string_view path) {
  const Key* key = find_key(std::string("defaults.").append(path));
  if (node.broken || key == nullptr) return true;
  if (key->kind == Kind::list) return node.kind != Node::Kind::list;
  return key->kind != Kind::rule && key->kind != Kind::predicates &&
         (node.kind != Node::Kind::scalar || complaint(*key, node));
}

class RouteChecker {
 public:
  RouteChecker(const Route& route, const RouteOrigin& origin, const Settings& settings, const Node& root,
               Report& report)
      : route_(route), origin_(origin), settings_(settings), root_(root), report_(report) {}

  void run() {
    check_limits();
    check_backoff();
    check_first_wait();
    check_hedge();
    check_json();
    check_always();
    check_truncated();
    check_timeout();
    check_predicates();
    check_tls();
    check_on_broken();
    check_replay();
    check_post();
    check_path();
    check_http2_of_calls();
    check_statuses_of_calls();
    check_time_of_calls();
  }

 private:
  // Returns the position for a message about `keys`. If several layers set one of the keys, this is the
  // position in the layer with the highest precedence. Returns nothing if no layer sets any of the keys, or
  // if a value of a key was rejected.
  std::optional<Blame> blame(std::initializer_list<std::string_view> keys) const {
    std::optional<Blame> found;
    std::vector<const Node*> hiding;
    for (const auto& [layer, shipped_below] : layers()) {
      for (const std::string_view key : keys) {
        const Node* node = layer->node == nullptr ? nullptr : locate(*layer->node, key);
        if (node == nullptr || is_hidden(hiding, key)) continue;
        if (is_refused(*node, key)) return std::nullopt;
        if (!found) found = Blame{node->line, node->column, layer->path + "." + std::string(key)};
      }
      hiding.insert(hiding.end(), shipped_below->begin(), shipped_below->end());
    }
    return found;
  }

  // Returns the layers of the route in descending precedence. Each layer comes with those sections of the
  // preset whose precedence is between this layer and the next one.
  std::array<std::pair<const RouteOrigin::Layer*, const std::vector<const Node*>*>, 4> layers() const {
    static const std::vector<const Node*> nothing;
    return {{{&origin_.over, &nothing},
             {&origin_.route, &origin_.shipped_route},
             {&origin_.policy, &origin_.shipped_policies},
             {&origin_.defaults, &nothing}}};
  }

  // Returns true if one of the preset sections in `hiding` sets the key. Sections of the file with lower
  // precedence then have no effect on the key.
  static bool is_hidden(const std::vector<const Node*>& hiding, std::string_view key) {
    return std::any_of(hiding.begin(), hiding.end(),
                       [&](const Node* shipped) { return locate(*shipped, key) != nullptr; });
  }

  void error(std::initializer_list<std::string_view> keys, const std::string& message) {
    if (const auto at = blame(keys)) report_.error(at->line, at->column, at->path, message);
  }

  void check_limits() {
    const auto& retry = route_.policy.retry;
    if (retry.max_attempts || retry.deadline) return;
    error({"retry.max_attempts", "retry.deadline"},
          "max_attempts and deadline are both unlimited, so retries would never end: limit one of them");
  }

  void check_backoff() {
    const auto& backoff = route_.policy.retry.backoff;
    if (backoff.maximum >= backoff.initial) return;
    error({"retry.backoff.maximum", "retry.backoff.initial"},
          "the maximum wait is shorter than the initial wait: write maximum >= initial");
  }

  void check_first_wait() {
    const auto& retry = route_.policy.retry;
    if (!retry.deadline || retry.max_attempts == 1U || retry.backoff.maximum < retry.backoff.initial) return;
    if (*retry.deadline >= policy::wait_range(retry.backoff, 0, Duration::zero()).lowest) return;
    error({"retry.deadline", "retry.backoff.initial", "retry.backoff.jitter", "retry.backoff.maximum",
           "retry.max_attempts"},
          "the deadline is shorter than the shortest first wait, so no retry could start: write a longer "
          "deadline or a shorter backoff.initial");
  }

  void check_hedge() {
    const policy::RoutePolicy& policy = route_.policy;
    if (!policy.hedge || policy.mode == policy::Mode::off) return;
    std::string why;
    if (policy.idempotent.kind == IdempotencyRule::Kind::never) {
      why = "idempotent is set to never, and only idempotent requests are hedged";
    } else if (policy.retry.max_attempts == 1U) {
      why = "max_attempts is 1, and a hedged request counts as an attempt";
    } else if (policy.retry.deadline && policy.hedge->after &&
               *policy.hedge->after > *policy.retry.deadline) {
      why = "hedge.after is longer than the deadline";
    }
    if (why.empty()) return;
    if (const auto at = blame({"hedge.after", "idempotent", "retry.max_attempts", "retry.deadline"}))
      report_.warning(at->line, at->column, at->path, "no hedged request can be sent here: " + why);
  }

  void check_json() {
    const auto& rule = route_.policy.idempotent;
    const bool asks_json = std::any_of(rule.conditions.begin(), rule.conditions.end(),
                                       [](const Condition& c) { return c.kind == Condition::Kind::json; });
    if (!asks_json) return;
    if (route_.policy.replay_memory_bytes == 0)
      error({"idempotent", "replay.memory"},
            "a json condition needs a held body, but replay.memory is 0: write replay: {memory: 256KiB}");
    // Checks only a rule that the route itself has. An inherited rule also applies to other routes, and the
    // author did not write the rules of presets.
    const Node* own = origin_.route.node == nullptr ? nullptr : locate(*origin_.route.node, "idempotent");
    if (own == nullptr || !route_.source.empty()) return;
    if (const std::string why = why_no_json(route_.match); !why.empty())
      error({"idempotent"}, "a json condition can never be true here: " + why);
  }

  // Returns why a request that matches `match` cannot have a JSON body. Empty if the request can have one.
  static std::string why_no_json(const policy::Match& match) {
    static constexpr std::array<std::string_view, 4> bodiless{"GET", "HEAD", "TRACE", "CONNECT"};
    const auto has_no_body = [](const std::string& method) {
      return std::find(bodiless.begin(), bodiless.end(), method) != bodiless.end();
    };
    if (!match.methods.empty() && std::all_of(match.methods.begin(), match.methods.end(), has_no_body))
      return "requests with these methods have no body";
    for (const Condition& field : match.headers) {
      const std::string value = policy::lower(field.value);
      if (policy::equals_ignoring_case(field.name, "Content-Type") && !value.empty() &&
          value.find("json") == std::string::npos)
        return "the match requires a body that is not JSON";
      if (policy::equals_ignoring_case(field.name, "Content-Encoding") && value != "identity")
        return "the match requires a body with a content coding, which is not read";
    }
    return {};
  }

  void check_always() {
    if (route_.policy.idempotent.kind != IdempotencyRule::Kind::always) return;
    const auto& methods = route_.match.methods;
    if (!methods.empty() && std::all_of(methods.begin(), methods.end(), policy::is_idempotent_method)) return;
    if (!route_.match.grpc.empty()) return check_always_for_calls();
    if (const auto at = blame({"idempotent"}))
      report_.warning(
          at->line, at->column, at->path,
          "this rule applies to methods such as POST too: a request that took effect before its response was "
          "lost is sent again, and may be executed twice; limit match.methods, or write a condition");
  }

  // Warns if the route matches every method of a service. Does not warn if it names methods, because a call
  // has nothing else by which the author could say that it is safe to repeat.
  void check_always_for_calls() {
    const auto& calls = route_.match.grpc;
    const auto is_whole_service = [](const policy::GrpcPattern& call) { return call.text().ends_with("/*"); };
    if (std::none_of(calls.begin(), calls.end(), is_whole_service)) return;
    if (const auto at = blame({"idempotent"}))
      report_.warning(at->line, at->column, at->path,
                      "this rule applies to every method of a service: a call that took effect before its "
                      "response was lost is sent again, and may be executed twice; list the methods that "
                      "only read in match.grpc, such as shop.Catalog/Get*");
  }

  void check_truncated() {
    const auto& policy = route_.policy;
    const bool holds = policy.hold && (policy.hold->bytes > 0 || !policy.hold->body.empty());
    if (!policy.retry.on.truncated || holds) return;
    if (const auto at = blame({"retry.on"}))
      report_.warning(at->line, at->column, at->path,
                      "truncated is listed, but no response is held back, so a broken one cannot be retried: "
                      "write hold: {bytes: 64KiB}");
  }

  // Warns if `retry.on` lists `timeout` but no timeout can occur. Does not warn about the default list,
  // because the author did not write the `timeout` in that list.
  void check_timeout() {
    const auto& retry = route_.policy.retry;
    const bool raised =
        retry.attempt_timeout || !retry.deadline || route_.policy.response_timeout < *retry.deadline;
    policy::RetryOn standard = policy::RetryOn::defaults();
    standard.calls = retry.on.calls;
    const bool lists = retry.on.timeout && retry.on != standard && has_list();
    if (!lists || raised || route_.policy.mode == policy::Mode::off) return;
    if (const auto at = blame({"retry.attempt_timeout", "retry.on", "response_timeout", "retry.deadline"}))
      report_.warning(
          at->line, at->column, at->path,
          "timeout is listed, but no timeout can occur before the deadline: write an attempt_timeout (the "
          "longest time that the upstream may take, such as 10s), or a response_timeout below the deadline");
  }

  // Returns true if the file or a preset sets `retry.on`.
  bool has_list() const {
    const auto lists = [](const Node* node) {
      return node != nullptr && locate(*node, "retry.on") != nullptr;
    };
    const auto all_layers = layers();
    return std::any_of(all_layers.begin(), all_layers.end(), [&](const auto& layer) {
      return lists(layer.first->node) || std::any_of(layer.second->begin(), layer.second->end(), lists);
    });
  }

  // Warns if `retry.on` already lists all statuses of a predicate in `hold.body`: such responses are retried
  // before the predicate is checked.
  void check_predicates() {
    const policy::RoutePolicy& route = route_.policy;
    if (!route.hold) return;
    for (const policy::BodyPredicate& predicate : route.hold->body) {
      if (!predicate.status || !lists_all(route.retry.on, *predicate.status)) continue;
      if (const auto at = blame({"hold.body"}))
        report_.warning(at->line, at->column, at->path,
                        "retry.on lists " + policy::describe(*predicate.status) +
                            " already, so the predicate for it is never checked: remove one of the two");
      return;
    }
  }

  static bool lists_all(const policy::RetryOn& on, const policy::StatusRange& range) {
    for (int status = range.first; status <= range.last; ++status) {
      if (!on.lists(policy::Responded{status, {}})) return false;
    }
    return true;
  }

  void check_tls() {
    const policy::TlsPolicy& tls = route_.policy.tls;
    if (tls.key_passphrase && !tls.key)
      error({"tls.key_passphrase"}, "the passphrase is set without a private key: write tls.key too");
    const auto is_in_a_name = [](char c) {
      return is_alphanumeric(c) || std::string_view(".-_:").find(c) != std::string_view::npos;
    };
    if (tls.server_name && !std::all_of(tls.server_name->begin(), tls.server_name->end(), is_in_a_name))
      error({"tls.server_name"}, "is not a host name or an address: write a name without scheme and port");
    if (tls.certificate.has_value() == tls.key.has_value()) return;
    error({"tls.certificate", "tls.key"},
          tls.key ? "the private key is set without its certificate: write tls.certificate too"
                  : "the certificate is set without its private key: write tls.key too");
  }

  void check_on_broken() {
    if (route_.policy.on_broken != policy::OnBroken::close || !is_reached_by_others()) return;
    if (const auto at = blame({"on_broken"}))
      report_.warning(
          at->line, at->column, at->path,
          "the value close also ends the connections of clients on other hosts, which can reach a forward "
          "listener: a browser or a JDK resends the request by itself when a connection that it has used "
          "before ends, and the request may be executed twice; write auto");
  }

  // Returns true for a forward listener with `allow_remote`.
  bool is_reached_by_others() const {
    return std::any_of(settings_.listeners.begin(), settings_.listeners.end(), [](const Listener& each) {
      return each.mode == ListenerMode::forward && each.allow_remote;
    });
  }

  void check_replay() {
    const policy::RoutePolicy& policy = route_.policy;
    const Limits& limits = settings_.limits;
    if (policy.mode == policy::Mode::off) return;
    check_total("memory", policy.replay_memory_bytes, limits.replay_memory_bytes);
    check_total("disk", policy.replay_disk_bytes, limits.replay_disk_bytes);
  }

  // Warns if `max_attempts` is set on a route for POST only. A POST is not retried after its first byte was
  // sent.
  void check_post() {
    const policy::RoutePolicy& policy = route_.policy;
    const auto& methods = route_.match.methods;
    const auto post = std::find_if_not(methods.begin(), methods.end(), policy::is_idempotent_method);
    const bool repeats = policy.hold && std::any_of(policy.hold->body.begin(), policy.hold->body.end(),
                                                    [](const auto& predicate) { return predicate.refused; });
    if (policy.mode == policy::Mode::off || policy.idempotent.kind != IdempotencyRule::Kind::by_method ||
        policy.retry.refused.statuses.any() || repeats || policy.retry.max_attempts == 1U ||
        post == methods.end() || !route_.source.empty())
      return;
    const auto at = blame({"retry.max_attempts"});
    if (!at || at->path.starts_with("defaults")) return;
    report_.warning(at->line, at->column, at->path,
                    *post +
                        " is not idempotent by its method: once any of its bytes was sent, it is not retried "
                        "(not_idempotent), even if max_attempts permits it; if the upstream recognizes a "
                        "repeated request by a key, write idempotent: {any: [{header: Idempotency-Key}]}");
  }

  // Warns about a path that ends in `/`, because other proxies treat such a path as a prefix.
  void check_path() {
    const Node* const path = origin_.route.node == nullptr || !route_.source.empty()
                                 ? nullptr
                                 : locate(*origin_.route.node, "match.path");
    if (path == nullptr || path->kind != Node::Kind::scalar || path->text.size() < 2) return;
    if (!path->text.ends_with('/') || !policy::PathPattern::parse(path->text)) return;
    const bool is_plain = path->origin.empty() && path->text.size() <= 60;
    report_.warning(path->line, path->column, origin_.route.path + ".match.path",
                    shown(*path) + " matches only this path: write " +
                        (is_plain ? path->text : "the path with ") + "** to match everything below it too");
  }

  // Warns if a route for gRPC calls sends none of them over HTTP/2 (row M24).
  void check_http2_of_calls() {
    if (route_.match.grpc.empty() || route_.policy.http2 != policy::UseHttp2::never) return;
    if (const auto at = blame({"http2"}))
      report_.warning(at->line, at->column, at->path,
                      "the route " + in_quotes(route_.name) +
                          " matches gRPC calls, which need HTTP/2, so all of them fail (not_http2): write "
                          "http2: auto, or always, for that route");
  }

  // Warns if the route itself lists statuses of gRPC calls, but calls no call idempotent (row M112): a status
  // is a response, so the call was sent. Does not warn about the default list, because the author meant more
  // by it.
  void check_statuses_of_calls() {
    const policy::RoutePolicy& policy = route_.policy;
    const policy::RetryOn& on = policy.retry.on;
    if (on.calls.none() || on == policy::RetryOn::defaults() || policy.mode == policy::Mode::off) return;
    if (!route_.source.empty() || may_be_idempotent_call(policy.idempotent)) return;
    const auto at = blame({"retry.on"});
    if (!at || !at->path.starts_with(origin_.route.path + ".")) return;
    std::size_t first = 0;
    while (!on.calls.test(first)) ++first;
    report_.warning(at->line, at->column, at->path,
                    call_word(static_cast<policy::GrpcStatus>(first)) +
                        " is listed, but no gRPC call is sent again after it: a call is a POST, and "
                        "`idempotent` of this route never holds for one; write idempotent: always on a route "
                        "whose match.grpc lists only methods that may be executed twice");
  }

  // Returns true if the rule can hold for a gRPC call: a POST without a query whose body is not JSON.
  static bool may_be_idempotent_call(const IdempotencyRule& rule) {
    const auto may_hold = [](const Condition& condition) {
      return condition.kind == Condition::Kind::header ||
             (condition.kind == Condition::Kind::method && condition.name == "POST");
    };
    const auto& conditions = rule.conditions;
    switch (rule.kind) {
      case IdempotencyRule::Kind::always: return true;
      case IdempotencyRule::Kind::never:
      case IdempotencyRule::Kind::by_method: return false;
      case IdempotencyRule::Kind::any: return std::any_of(conditions.begin(), conditions.end(), may_hold);
      case IdempotencyRule::Kind::all: return std::all_of(conditions.begin(), conditions.end(), may_hold);
    }
    return true;
  }

  // Warns if a route for gRPC calls limits the time to their heads (row M112).
  void check_time_of_calls() {
    const auto& limit = route_.policy.of_calls.response_timeout;
    if (route_.match.grpc.empty() || !limit || *limit == policy::no_limit) return;
    if (const auto at = blame({"response_timeout"}))
      report_.warning(at->line, at->column, at->path,
                      "this limit also ends gRPC calls that stream, because their head may come only with "
                      "their first message: remove it, or match only methods that respond at once");
  }

  // Warns if a route may hold larger request bodies in memory or on disk than the process may hold in total.
  // If the route's limit is a default, the warning is at the limit of the process, which the author wrote.
  // Does not warn if the limit of the process is 0, because the author has then disabled the store.
  void check_total(const std::string& store, std::uint64_t of_route, std::uint64_t total) {
    if (of_route <= total || total == 0) return;
    const std::string limit = "limits.replay_" + store;
    const std::string key = "replay." + store;
    auto at = blame({key});
    if (!at) {
      const Node* const written = locate(root_, limit);
      if (written == nullptr || report_.refused_under("limits")) return;
      at = Blame{written->line, written->column, limit};
    }
    report_.warning(at->line, at->column, at->path,
                    key + " of one request is " + size_text(of_route) + ", and " + limit +
                        " of all requests is " + size_text(total) +
                        ": a body with a size between the two is never held, and its request is not retried "
                        "(not_replayable); lower the first or raise the second");
  }

  const Route& route_;
  const RouteOrigin& origin_;
  const Settings& settings_;
  const Node& root_;
  Report& report_;
};

void check_reachable(const BuiltRoutes& built, Report& report) {
  // Compares only the routes of the file. The routes of presets come later, and the file may hide them on
  // purpose.
  const auto own_end = std::find_if(built.routes.begin(), built.routes.end() - 1,
                                    [](const Route& route) { return !route.source.empty(); });
  const auto count = static_cast<std::size_t>(own_end - built.routes.begin());
  // If a part of a match was rejected, the rest accepts more requests than the author intended. Such a match
  // is not compared with others.
  std::vector<bool> known(count);
  for (std::size_t i = 0; i < count; ++i)
    known[i] = !report.refused_under(built.origins[i].route.path + ".match");
  for (std::size_t later = 1; later < count && !report.full(); ++later) {
    for (std::size_t earlier = 0; earlier < later && known[later]; ++earlier) {
      if (!known[earlier] || !covers(built.routes[earlier].match, built.routes[later].match)) continue;
      const RouteOrigin::Layer& at = built.origins[later].route;
      report.warning(at.node->line, at.node->column, at.path,
                     "no request can reach this route: " + built.origins[earlier].route.path + " (line " +
                         std::to_string(built.routes[earlier].line) +
                         ") matches every request that this route matches");
      break;
    }
  }
}

}  // namespace

void check_routes(const BuiltRoutes& built, const Settings& settings, const Node& root, Report& report) {
  for (std::size_t i = 0; i < built.routes.size(); ++i)
    RouteChecker(built.routes[i], built.origins[i], settings, root, report).run();
  check_reachable(built, report);
}

}  // namespace reprise::config
