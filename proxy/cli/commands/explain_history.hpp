// `explain --request-id`: prints the history of a finished request, as the running proxy recorded it.
#pragma once

#include <string>

namespace reprise::cli {

/// Prints the history from the admin listener that `admin` (HOST:PORT) or else the configuration names. If
/// there is none, prints why. Returns the exit code.
int explain_history(const std::string& id, const std::string& admin, const std::string& file,
                    const std::string& format);

}  // namespace reprise::cli
