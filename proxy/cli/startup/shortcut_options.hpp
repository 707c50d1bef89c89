// Adds the flags of shortcut_table.hpp to a command.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "config/given.hpp"

namespace reprise::cli {

/// Which flags a command has. `child`: those of `process`, for a proxy that serves only one command.
enum class ShortcutsOf : std::uint8_t { process, child, routes };

/// Adds all flags to the command. With `routes`, adds only those flags that affect how a request is handled.
/// Stores the values in `flags`.
void add_shortcuts(CLI::App& command, ShortcutsOf, const std::shared_ptr<config::Flags>& flags);

}  // namespace reprise::cli
