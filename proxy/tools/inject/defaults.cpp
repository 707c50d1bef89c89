#include "proxy/tools/inject/defaults.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>

#include "proxy/tools/inject/metadata.hpp"
#include "proxy/tools/inject/quantity.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {
namespace {

const Resources usual_requests{{"cpu", "20m"}, {"memory", "32Mi"}};
const Resources usual_limits{{"memory", "192Mi"}};
// CPU limit of the sidecar in a pod of the QoS class Guaranteed. In this class, every container needs a CPU
// limit.
constexpr std::string_view limit_of_cpu = "100m";

/// Returns the quantity of the resource `name` in the container's resources; empty if it is not set. `kind`
/// is `requests` or `limits`.
std::string_view amount(const Node& container, std::string_view kind, std::string_view name) {
  const Node* resources = container.find("resources");
  const Node* amounts = resources == nullptr ? nullptr : resources->find(kind);
  return amounts == nullptr ? std::string_view() : amounts->word(name);
}

/// Returns true if cpu and memory each have a limit, and their requests equal these limits or are not set.
bool is_guaranteed(const Node& container) {
  const std::string_view names[] = {"cpu", "memory"};
  return std::all_of(std::begin(names), std::end(names), [&](std::string_view name) {
    const std::string_view limit = amount(container, "limits", name);
    const std::string_view request = amount(container, "requests", name);
    return !limit.empty() && (request.empty() || std::is_eq(compare_quantities(request, limit)));
  });
}

bool is_guaranteed(const Pod& pod) {
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Node* list = pod.spec->find(key);
    if (list == nullptr) continue;
    for (const Node* container : list->items) {
      if (container->word("name") != container_name && !is_guaranteed(*container)) return false;
    }
  }
  return true;
}

bool shares_resources(const Pod& pod) {
  const Node* resources = pod.spec->find("resources");
  return resources != nullptr && !resources->entries.empty();
}

/// Returns the image with `version` as its tag if its tag is a version; otherwise returns the image
/// unchanged.
std::string upgraded(const std::string& image, std::string_view version) {
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  if (image.find('@') != std::string::npos || colon == std::string::npos ||
      (slash != std::string::npos && colon < slash) || colon + 1 == image.size() || image[colon + 1] < '0' ||
      image[colon + 1] > '9')
    return image;
  return image.substr(0, colon + 1) + std::string(version);
}

/// Sets the requests and limits of the sidecar. If a default request is above the limit, lowers the request
/// to the limit. Returns an error message if a request that an option sets is above the limit.
std::optional<std::string> decide_resources(const Pod& pod, const Options& options, Sidecar& sidecar) {
  if (shares_resources(pod) && options.requests.empty() && options.limits.empty()) return std::nullopt;
  const bool guaranteed = is_guaranteed(pod);
  sidecar.limits = options.limits;
  sidecar.limits.insert(usual_limits.begin(), usual_limits.end());
  if (guaranteed) sidecar.limits.emplace("cpu", limit_of_cpu);
  sidecar.requests = options.requests;
  for (const auto& [name, usual] : usual_requests) {
    const auto limit = sidecar.limits.find(name);
    const bool is_limit =
        limit != sidecar.limits.end() && (guaranteed || std::is_gt(compare_quantities(usual, limit->second)));
    sidecar.requests.emplace(name, is_limit ? limit->second : usual);
  }
  for (Resources* amounts : {&sidecar.requests, &sidecar.limits})
    std::erase_if(*amounts, [](const auto& one) { return one.second.empty(); });
  for (const auto& [name, request] : sidecar.requests) {
    const auto limit = sidecar.limits.find(name);
    if (limit != sidecar.limits.end() && std::is_gt(compare_quantities(request, limit->second)))
      return std::string("reprise would request ")
          .append(name)
          .append("=")
          .append(request)
          .append(", which is more than its limit of ")
          .append(limit->second)
          .append(": set both, with --requests and --limits or by annotations");
  }
  return std::nullopt;
}

void decide_configuration(const Options& annotated, const Options& otherwise, Sidecar& sidecar) {
  if (annotated.config_map) {
    sidecar.config_map = *annotated.config_map;
  } else if (annotated.config) {
    return;
  } else if (otherwise.config_map) {
    sidecar.config_map = *otherwise.config_map;
  } else if (otherwise.config) {
    sidecar.config = *otherwise.config;
  } else {
    sidecar.config_map = default_config_map;
  }
}

void take(std::string_view text, std::optional<std::string>& into) {
  if (!text.empty()) into = text;
}

Resources amounts_of(const Node& container, std::string_view kind) {
  Resources amounts;
  const Node* resources = container.find("resources");
  const Node* list = resources == nullptr ? nullptr : resources->find(kind);
  if (list == nullptr) return amounts;
  for (const Entry& entry : list->entries) amounts.emplace(entry.key->text, entry.value->text);
  return amounts;
}

const Node* named(const Node* list, std::string_view name) {
  if (list == nullptr) return nullptr;
  const auto found = std::find_if(list->items.begin(), list->items.end(),
                                  [&](const Node* item) { return item->word("name") == name; });
  return found == list->items.end() ? nullptr : *found;
}

}  // namespace

Options options_of(const Node& container, const Pod& pod) {
  Options there;
  take(container.word("image"), there.image);
  take(container.word("imagePullPolicy"), there.pull_policy);
  const Node* security = container.find("securityContext");
  there.user =
      security == nullptr || security->find("runAsUser") == nullptr ? "none" : security->word("runAsUser");
  const Undo undo = Undo::read_from(container);
  there.pull_secret = undo.one_added("imagePullSecrets");
  there.has_label = undo.one_added(metadata_place("labels", inject_key)).has_value();
  there.is_scraped = undo.one_added(metadata_place("annotations", scrape_key)).has_value();
  there.requests = amounts_of(container, "requests");
  there.limits = amounts_of(container, "limits");
  const Node* volume = named(pod.spec->find("volumes"), config_volume);
  const Node* config_map = volume == nullptr ? nullptr : volume->find("configMap");
  if (config_map != nullptr) {
    take(config_map->word("name"), there.config_map);
  } else if (volume != nullptr && volume->find("downwardAPI") != nullptr && pod.metadata() != nullptr) {
    const Node* annotations = pod.metadata()->find("annotations");
    if (annotations != nullptr) take(annotations->word(config_key), there.config);
  }
  return there;
}

std::variant<Sidecar, Fault> sidecar_for(const Pod& pod, const Options& asked, const Options& there,
                                         std::string_view version) {
  auto annotated = read_annotations(pod.metadata());
  if (Fault* fault = std::get_if<Fault>(&annotated)) return std::move(*fault);
  const Options& own = std::get<Options>(annotated);
  Options otherwise = joined(asked, there);
  if (!asked.image && there.image) otherwise.image = upgraded(*there.image, version);
  const Options options = joined(own, otherwise);
  Sidecar sidecar;
  sidecar.image = options.image.value_or("reprise:" + std::string(version));
  sidecar.pull_policy = options.pull_policy.value_or("");
  sidecar.pull_secret = options.pull_secret.value_or("");
  sidecar.user = options.user.value_or(sidecar.user);
  sidecar.has_label = options.has_label;
  sidecar.is_scraped = options.is_scraped;
  decide_configuration(own, otherwise, sidecar);
  if (auto wrong = decide_resources(pod, options, sidecar))
    return Fault{pod.spec->line, pod.spec->column, *wrong};
  return sidecar;
}

bool differs(const Sidecar& sidecar, const Options& there) {
  return sidecar.image != there.image || sidecar.pull_policy != there.pull_policy.value_or("") ||
         sidecar.user != there.user || sidecar.requests != there.requests || sidecar.limits != there.limits ||
         sidecar.config_map != there.config_map.value_or("") || !sidecar.config.empty() ||
         sidecar.pull_secret != there.pull_secret.value_or("") || sidecar.has_label != there.has_label ||
         sidecar.is_scraped != there.is_scraped;
}

}  // namespace reprise::tools
