// `explain --request-id`: prints how a finished request went, as recorded by the running proxy.
#pragma once

#include <string>

namespace reprise::cli {

/// Prints the history of the request `id`. Reads the history from the admin listener at `admin` (HOST:PORT).
/// If `admin` is empty, uses the address in the configuration `file`. If the history cannot be read, prints
/// why. Returns the exit code.
int explain_history(const std::string& id, const std::string& admin, const std::string& file,
                    const std::string& format);

}  // namespace reprise::cli
