// Reads a configuration file into Settings, or says everything that is wrong with it in one run.
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

/// Lines and columns from 1.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// A value that names a file or a folder; `intercept.hosts`, too, with no file, because the authority is made
/// for them.
struct NamedFile {
  std::string path;  ///< of the key, such as `routes[0].tls.ca_file`
  std::string file;
  Place place;
};

struct Loaded {
  std::optional<Settings> settings;  ///< absent if any problem is an error
  std::vector<Problem> problems;     ///< in the order of the file
  /// Every file that it names and that is read for it, so that a change of one is a change of it.
  std::vector<std::string> files;
  std::string hash;                      ///< 12 hex digits of the file's bytes; empty if it could not be read
  std::optional<Place> replay_memory{};  ///< where the file has `limits.replay_memory`; absent: it has not
  std::optional<Place> threads{};        ///< the same of `threads`
  std::optional<Place> otlp{};           ///< the same of `trace.otlp`
  std::vector<NamedFile> named{};        ///< keys of files that others read, in the order of the file
  std::vector<GivenValue> given{};       ///< by flags and variables
};

/// Never throws for any bytes. `${file:..}` in a value reads that file. Variables of shortcut_table.hpp stand
/// in for keys that the text does not have, flags replace them.
Loaded load_text(std::string_view text, const Environment&, const Flags& = {});
/// A file that cannot be read is a problem at 0:0.
Loaded load_file(const std::string& path, const Environment&, const Flags& = {});
/// The product's defaults: what an absent file means.
Settings built_in();

}  // namespace reprise::config
