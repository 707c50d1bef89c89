// Precompiled header: the includes that nearly all commands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cli/startup/configuration.hpp"
