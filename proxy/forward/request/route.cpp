#include "proxy/forward/request/route.hpp"

namespace reprise::forward {

void Route::choose(const policy::RequestView& view) {
  const policy::RouteTable& routes = *snapshot->settings.routes;
  number = routes.find(view);
  policy = &routes.policy_for(number, view);
  is_call = view.is_call;
}

}  // namespace reprise::forward
