// A response of the upstream, whole or broken in the way that its fate says.
#pragma once

#include <string>

#include "tests/soak/content.hpp"
#include "tests/soak/plan.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// The body of the whole response to anything but a GET.
std::string response_body(const Plan&);

struct Played {
  int status = 0;         ///< of the head that was sent whole; 0 if none was
  bool broken = false;    ///< its body was not
  bool reusable = false;  ///< the connection may carry another request
};

/// Answers a request that was read whole.
Task<Played> play_response(Wire& wire, Plan plan, Fate fate, const Head& request, Chance& chance);

}  // namespace reprise::soak
