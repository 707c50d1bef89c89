// `reprise inject`: manifests with reprise put into their pods, and every other byte as it was.
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

/// Lines and columns from 1, of the file; documents from 1.
struct Remark {
  std::size_t document = 1;
  std::size_t line = 1;
  std::size_t column = 1;
  std::string message;
  bool is_note = false;  ///< nothing has to be done about it
};

struct Injected {
  std::string text;
  std::size_t pods = 0;         ///< that reprise was put into
  std::size_t already = 0;      ///< that have it, and stay
  std::size_t passed_over = 0;  ///< that do not get it, or may be pods of a kind that is not known
  std::map<std::string, std::size_t> others{};  ///< how many objects without pods there are of each kind
  std::set<std::string> config_maps{};          ///< that the pods mount
  std::set<std::string> config_maps_there{};    ///< that are in the file
  std::vector<Remark> remarks{};                ///< what the author should know
};

/// Of a file of YAML documents, or of JSON; or why not, and then of none. `version`: of the image.
std::variant<Injected, Remark> inject(std::string_view file, const Options&, std::string_view version);

struct Removed {
  std::string text;
  std::size_t pods = 0;           ///< that reprise was taken out of
  std::vector<Remark> remarks{};  ///< containers called reprise that are somebody else's, and stay
};

/// The way back, byte for byte where nobody has changed what inject() wrote; or why not, and then of none.
std::variant<Removed, Remark> remove(std::string_view file);

}  // namespace reprise::tools
