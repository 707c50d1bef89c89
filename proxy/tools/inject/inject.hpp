// `reprise inject`: adds reprise to the pods in manifests, and leaves every other byte unchanged.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/tools/inject/options.hpp"

namespace reprise::tools {

/// A message about the file. Lines, columns and documents count from 1.
struct Remark {
  std::size_t document = 1;
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
  bool is_note = false;  ///< true if the message requires no action
};

struct Injected {
  std::string text;
  std::size_t pods = 0;     ///< number of pods to which reprise was added
  std::size_t already = 0;  ///< number of pods that already had reprise and are unchanged
  /// Number of skipped pods, plus the number of objects of unknown kinds that seem to have pods.
  std::size_t passed_over = 0;
  std::map<std::string, std::size_t> others{};  ///< number of objects without pods, by kind
  std::set<std::string> config_maps{};          ///< names of ConfigMaps that the pods mount
  std::set<std::string> config_maps_there{};    ///< names of the ConfigMaps that the file defines
  std::vector<Remark> remarks{};                ///< notes for the author of the manifest
};

/// Adds reprise to all pods in a file of YAML documents or JSON. If a document has a fault, returns only the
/// fault. `version` is the tag of the default image.
std::variant<Injected, Remark> inject(std::string_view file, const Options&, std::string_view version);

struct Removed {
  std::string text;
  std::size_t pods = 0;  ///< number of pods from which reprise was removed
  /// Notes about containers called reprise that inject() did not add, and that remain.
  std::vector<Remark> remarks{};
};

/// Reverses inject(). Restores the original bytes, unless somebody edited the additions after inject(). If a
/// document has a fault, returns only the fault.
std::variant<Removed, Remark> remove(std::string_view file);

}  // namespace reprise::tools
