// The reference page of the configuration.
#pragma once

#include <string>

namespace reprise::config {

/// A page in Markdown: every key with kind, default and sentence; `config/README.md` is this text.
std::string reference_markdown();

}  // namespace reprise::config
