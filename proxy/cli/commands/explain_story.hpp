// `explain --request-id`: a request that is over, as the running proxy tells it.
#pragma once

#include <string>

namespace reprise::cli {

/// Asks the admin listener that `admin` (HOST:PORT), or else that configuration, names; prints the story, or
/// says why there is none. Returns the exit code.
int explain_story(const std::string& id, const std::string& admin, const std::string& file,
                  const std::string& format);

}  // namespace reprise::cli
