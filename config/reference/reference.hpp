// The reference page of the configuration.
#pragma once

#include <string>

namespace reprise::config {

/// Returns a Markdown page with kind, default and meaning of every key. `config/README.md` has the same text.
std::string reference_markdown();

}  // namespace reprise::config
