// The inputs of one exchange: the request, its client, and the io thread that serves both.
#pragma once

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Holds references that must outlive the exchange.
struct OneExchange {
  Worker& worker;
  Request& request;
  ClientSide client;
};

}  // namespace reprise::forward
