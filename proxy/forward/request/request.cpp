#include "proxy/forward/request/request.hpp"

namespace reprise::forward {

void Responses::clear() {
  live.clear();
  copy.clear();
  kept.clear();
  net::empty_out(head);
  net::empty_out(own_fields);
  gateway.reset();
  net::empty_out(gateway_authority);
}

void Request::clear() {
  machine.reset();
  out.clear();
  responses.clear();
  purpose = Plain{};
  route = {};
  in.clear();
  number = 0;
}

const policy::Ledger& Request::ledger() const {
  static const policy::Ledger nothing;
  return machine ? machine->ledger() : nothing;
}

}  // namespace reprise::forward
