// The lines above every page: whose figures they are, and what is wrong with them.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"
#include "proxy/tools/top/watch.hpp"

namespace reprise::tools {

std::vector<Line> head_lines(const Watch&, const View&, const Display&);
/// The last reload in words; `bad`: it failed.
std::string reload_text(const Status&, bool& bad);

}  // namespace reprise::tools
