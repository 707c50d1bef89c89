// A response of the upstream, whole or broken as the fate of the attempt says.
#pragma once

#include <string>

#include "tests/soak/content.hpp"
#include "tests/soak/plan.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// Returns the body of the whole response to any method except GET and HEAD.
std::string response_body(const Plan&);

struct Played {
  int status = 0;         ///< status of the head, if the head was sent whole; else 0
  bool broken = false;    ///< the body broke
  bool reusable = false;  ///< the connection can carry another request
};

/// Sends the response. Precondition: the request was read whole.
Task<Played> play_response(Wire& wire, Plan plan, Fate fate, const Head& request, Chance& chance);

}  // namespace reprise::soak
