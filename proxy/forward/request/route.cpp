#include "proxy/forward/request/route.hpp"

namespace reprise::forward {

void Route::choose(const policy::RequestView& view) {
  const policy::RouteTable& routes = *snapshot->settings.routes;
  number = routes.find(view);
  policy = &routes[number].policy;
}

}  // namespace reprise::forward
