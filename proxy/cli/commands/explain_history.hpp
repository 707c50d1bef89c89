// `explain --request-id`: prints how a finished request went, as recorded by the running proxy.
#pragma once

#include <string>

namespace reprise::cli {

/// Prints the history of that request. Gets it from the admin listener at `admin` (HOST:PORT), or else at the
/// address in the configuration. If that fails, prints why. Returns the exit code.
int explain_history(const std::string& id, const std::string& admin, const std::string& file,
                    const std::string& format);

}  // namespace reprise::cli
