// The lines above every page: which proxy is shown, and its problems.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

std::vector<Line> head_lines(const Watch&, const View&, const Display&);
/// Describes the last reload. Sets `bad` if the reload failed.
std::string reload_text(const Status&, bool& bad);

}  // namespace reprise::tools
