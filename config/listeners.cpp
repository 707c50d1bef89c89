#include "config/listeners.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "config/keys/address.hpp"
#include "config/keys/fields.hpp"
#include "config/reader.hpp"
#include "proxy/policy/match/enumerators.hpp"

namespace reprise::config {
namespace {

constexpr std::size_t most_listeners = 64;

// An address in the configuration, and the position for messages about it.
struct Placed {
  Endpoint endpoint;
  std::string path;
  std::size_t line;
  std::size_t column;
  bool is_given = false;  // the address was set by a flag or a variable
};

/// For one listener mode: its name in messages, and the port that messages suggest.
struct ModeTerms {
  std::string_view name;
  int port;
  bool has_default_bind = false;
};
// Indexed by ListenerMode.
constexpr std::array mode_terms{ModeTerms{"a forward listener", 3128, true}, ModeTerms{"a gateway", 3180},
                                ModeTerms{"a transparent listener", 3190},
                                ModeTerms{"a SOCKS listener", 1080}};
static_assert(mode_terms.size() == policy::names_of<ListenerMode>.size(),
              "every ListenerMode has its row here");

// Returns where an address is written, as an addition to its path.
std::string where(const Placed& address) {
  return address.line > 0 ? " (line " + std::to_string(address.line) + ")" : " (its default)";
}

const ModeTerms& terms_of(ListenerMode mode) { return mode_terms[static_cast<std::size_t>(mode)]; }

bool fits(const Node* node, std::string_view schema) {
  const Key* key = find_key(schema);
  return node != nullptr && !node->broken && node->kind == Node::Kind::scalar && key != nullptr &&
         !complaint(*key, *node);
}

class ListenerBuilder {
 public:
  ListenerBuilder(const Node& root, Report& report) : root_(root), report_(report) {}

  std::vector<Listener> run(const Settings& settings) {
    const Node* list = root_.find("listeners");
    std::vector<Listener> listeners{Listener{}};
    if (list != nullptr && list->kind == Node::Kind::list) {
      listeners.clear();
      if (list->items.empty())
        report_.error(list->line, list->column, "listeners",
                      "is empty, so no client could connect: write a listener, or remove the key to use the "
                      "default listener");
      // The maximum number of listeners also bounds the number of address comparisons, because each address
      // is compared with every other.
      if (list->items.size() > most_listeners)
        report_.error(list->line, list->column, "listeners",
                      "is too long: at most " + std::to_string(most_listeners) + " listeners");
      for (std::size_t i = 0; i < std::min(list->items.size(), most_listeners); ++i)
        add(list->items[i], "listeners[" + std::to_string(i) + "]", listeners);
    } else if (list == nullptr) {
      bound_.push_back({listeners.front().bind, "listeners", 0, 0});
    }
    check_admin(settings.admin);
    check_collisions();
    check_loops(settings);
    return listeners;
  }

 private:
  void add(const Node& node, const std::string& path, std::vector<Listener>& listeners) {
    if (node.kind != Node::Kind::mapping) return;
    Listener listener;
    listener.line = node.line;
    Reader reader(node, "listeners[]");
    listener_fields(reader, listener);
    const Node* mode = node.find("mode");
    const bool mode_known = mode == nullptr || fits(mode, "listeners[].mode");
    if (mode_known) check_keys(node, path, listener.mode);
    const Node* bind = node.find("bind");
    check_reach(bind, path, "listeners[].bind", listener.bind, listener.allow_remote, 3128);
    listeners.push_back(std::move(listener));
    const bool known = bind == nullptr ? mode_known && terms_of(listeners.back().mode).has_default_bind
                                       : fits(bind, "listeners[].bind");
    const Node& at = bind == nullptr ? node : *bind;
    if (known) bound_.push_back({listeners.back().bind, child_path(path, "bind"), at.line, at.column});
    const Node* upstream = node.find("upstream");
    if (mode_known && has_own_upstream(listeners.back().mode) && fits(upstream, "listeners[].upstream")) {
      const GatewayUpstream& target = listeners.back().upstream;
      upstreams_.push_back(
          {{target.host, target.port}, child_path(path, "upstream"), upstream->line, upstream->column});
    }
  }

  void check_keys(const Node& node, const std::string& path, ListenerMode mode) {
    const ModeTerms& terms = terms_of(mode);
    if (has_own_upstream(mode) && node.find("upstream") == nullptr)
      report_.error(node.line, node.column, path,
                    "is a gateway without upstream: write upstream: http://host:port");
    if (!terms.has_default_bind && node.find("bind") == nullptr)
      report_.error(node.line, node.column, path,
                    "is " + std::string(terms.name) +
                        " without bind: write bind: 127.0.0.1:" + std::to_string(terms.port));
    if (has_own_upstream(mode)) return;
    for (const std::string_view key : {"upstream", "host", "redirects"}) {
      if (const Node* extra = node.find(key))
        report_.error(extra->line, extra->column, child_path(path, key),
                      "is only for mode gateway: write mode: gateway, or remove the key");
    }
  }

  void check_reach(const Node* bind, const std::string& path, std::string_view schema,
                   const Endpoint& endpoint, bool allow_remote, int port) {
    if (!fits(bind, schema) || allow_remote || is_loopback(endpoint)) return;
    report_.error(bind->line, bind->column, child_path(path, "bind"),
                  shown(*bind) +
                      " can be reached from other machines: write allow_remote: true if this is intended, or "
                      "bind 127.0.0.1:" +
                      std::to_string(port));
  }

  void check_admin(const Admin& admin) {
    const Node* section = root_.find("admin");
    const Node* bind = section == nullptr ? nullptr : section->find("bind");
    // A section of the wrong kind was reported already, and sets no address.
    if (admin.bind.is_off() || (section != nullptr && section->kind != Node::Kind::mapping)) return;
    check_reach(bind, "admin", "admin.bind", admin.bind, admin.allow_remote, 3129);
    if (bind == nullptr) {
      bound_.push_back({admin.bind, "admin.bind", 0, 0});
    } else if (fits(bind, "admin.bind")) {
      bound_.push_back({admin.bind, "admin.bind", bind->line, bind->column, bind->line == 0});
    }
  }

  void check_collisions() {
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!collide(bound_[i].endpoint, bound_[j].endpoint)) continue;
        const bool blame_second = bound_[i].line > 0 || bound_[i].is_given;
        const Placed& blamed = blame_second ? bound_[i] : bound_[j];
        const Placed& other = blame_second ? bound_[j] : bound_[i];
        report_.error(
            blamed.line, blamed.column, blamed.path,
            "binds the same address and port as " + other.path + where(other) + ": choose another port");
        break;
      }
      if (report_.full()) return;
    }
  }

  // Gateways of a proxy whose `security.deny` lacks `self` may lead to its other listeners.
  void check_loops(const Settings& settings) {
    if (settings.security.deny.self) {
      for (const Placed& upstream : upstreams_) check_loop(upstream);
    }
    if (!settings.parent) return;
    const Node* const url = locate(root_, "parent.url");
    const Node* const at = url == nullptr ? root_.find("parent") : url;
    check_loop({{settings.parent->host, settings.parent->port},
                url == nullptr ? "parent" : "parent.url",
                at->line,
                at->column});
  }

  void check_loop(const Placed& target) {
    const auto own = std::find_if(bound_.begin(), bound_.end(), [&](const Placed& bound) {
      return leads_to(target.endpoint, bound.endpoint);
    });
    if (own == bound_.end()) return;
    const bool is_itself = own->path == child_path(target.path.substr(0, target.path.find('.')), "bind");
    report_.error(target.line, target.column, target.path,
                  "leads back to " + (is_itself ? "this listener itself" : own->path + where(*own)) +
                      ", so every request would get 508: write the address of another server");
  }

  const Node& root_;
  Report& report_;
  std::vector<Placed> bound_;
  std::vector<Placed> upstreams_;  // of gateways
};

}  // namespace

std::vector<Listener> build_listeners(const Node& root, const Settings& settings, Report& report) {
  return ListenerBuilder(root, report).run(settings);
}

}  // namespace reprise::config
