// `reprise inject`: adds reprise to the pods of manifests, and leaves every other byte unchanged.
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

/// Lines and columns of the file, from 1; documents from 1.
struct Remark {
  std::size_t document = 1;
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
  bool is_note = false;  ///< requires no action
};

struct Injected {
  std::string text;
  std::size_t pods = 0;         ///< pods to which reprise was added
  std::size_t already = 0;      ///< pods that already had reprise and are unchanged
  std::size_t passed_over = 0;  ///< pods left alone, and objects of unknown kinds that seem to have pods
  std::map<std::string, std::size_t> others{};  ///< number of objects without pods, by kind
  std::set<std::string> config_maps{};          ///< mounted by the pods
  std::set<std::string> config_maps_there{};    ///< defined in the file
  std::vector<Remark> remarks{};                ///< notes for the author
};

/// Adds reprise to all pods of a file of YAML documents or JSON. If a document fails, returns why and changes
/// none. `version`: tag of the image.
std::variant<Injected, Remark> inject(std::string_view file, const Options&, std::string_view version);

struct Removed {
  std::string text;
  std::size_t pods = 0;           ///< pods from which reprise was removed
  std::vector<Remark> remarks{};  ///< about containers called reprise that inject() did not add; they stay
};

/// Reverses inject(), byte for byte unless its additions were edited since. If a document fails, returns why
/// and changes none.
std::variant<Removed, Remark> remove(std::string_view file);

}  // namespace reprise::tools
