// Loads a configuration file into Settings, or reports all of its errors in one run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"
#include "config/settings.hpp"
#include "config/yaml/problem.hpp"
#include "config/yaml/replace.hpp"

namespace reprise::config {

/// A position in the file. Lines and columns count from 1.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// A value that names a file or folder, and its position. `intercept.hosts` has an entry too, with an empty
/// `file`, because the certificate of the local authority must allow these hosts.
struct NamedFile {
  std::string path;  ///< path of the key, such as `routes[0].tls.ca_file`
  std::string file;
  Place place;
};

struct Loaded {
  std::optional<Settings> settings;  ///< absent if any problem is an error
  std::vector<Problem> problems;     ///< in the order of the file
  /// Every file whose content is part of the configuration: a change of one of these files changes the
  /// configuration.
  std::vector<std::string> files;
  std::string hash;  ///< 12 hex digits computed from the bytes of the file; empty if the file was not read
  std::optional<Place> replay_memory{};  ///< position of `limits.replay_memory`; absent if not set
  std::optional<Place> stream_memory{};  ///< position of `limits.stream_memory`; absent if not set
  std::optional<Place> threads{};        ///< position of `threads`; absent if not set
  std::optional<Place> otlp{};           ///< position of `trace.otlp`; absent if not set
  std::vector<NamedFile> named{};        ///< values that name files or folders, in file order
  std::vector<GivenValue> given{};       ///< values from flags and variables
};

/// Loads a configuration from text. Does not throw for any text. `${file:PATH}` in a value is replaced by the
/// content of the file PATH. The environment variables of shortcut_table.hpp set keys that the text does not
/// set; flags override the text and the variables.
Loaded load_text(std::string_view text, const Environment&, const Flags& = {});
/// Loads a configuration file. If the file cannot be read, reports a problem at 0:0.
Loaded load_file(const std::string& path, const Environment&, const Flags& = {});
/// Returns the built-in defaults, which apply if there is no file.
Settings built_in();

}  // namespace reprise::config
