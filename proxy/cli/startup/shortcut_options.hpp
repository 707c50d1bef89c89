// The flags of shortcut_table.hpp as options of a command.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "config/given.hpp"

namespace reprise::cli {

enum class ShortcutsOf : std::uint8_t { process, routes };

/// Adds all of them, or those that say what becomes of a request. What is given goes to `flags`.
void add_shortcuts(CLI::App& command, ShortcutsOf, const std::shared_ptr<config::Flags>& flags);

}  // namespace reprise::cli
