// The fields of the outgoing request head, on which idempotency rules are evaluated.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/hop_by_hop.hpp"

namespace reprise::forward {

/// Finds fields in the outgoing head only, with their outgoing values, because a field that does not reach
/// the upstream proves nothing (row L11). Ignores the fields that Connection lists, because the sender means
/// them for this hop only. Some of them are passed on nevertheless (row J1). Borrows all arguments.
class OutgoingFields final : public policy::FieldLines {
 public:
  /// `outgoing`: start line and field lines as write_request_head writes them, with or without the blank
  /// line. `named`: a cache of the names that Connection lists in that head; empty until first used. Keep
  /// `named` for further lookups in the same head, because Connection may list thousands of names.
  OutgoingFields(const http::RequestHead& head, std::string_view outgoing,
                 std::optional<http::NamedByConnection>& named)
      : head_(head), outgoing_(outgoing), named_(named) {}

  bool has(std::string_view name, std::string_view value) const override;

 private:
  const http::RequestHead& head_;
  std::string_view outgoing_;
  std::optional<http::NamedByConnection>& named_;
};

}  // namespace reprise::forward
