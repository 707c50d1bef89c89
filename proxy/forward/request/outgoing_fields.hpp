// The fields of the outgoing request head, which idempotency rules are evaluated on.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/hop_by_hop.hpp"

namespace reprise::forward {

/// Finds fields in the outgoing head only, with their outgoing values: a field that does not reach the
/// upstream proves nothing (row L11). Ignores every field that Connection lists, even if it is passed on all
/// the same (row J1): its sender has declared it to be for this hop only. Borrows all arguments.
class OutgoingFields final : public policy::FieldLines {
 public:
  /// `outgoing`: start line and field lines as write_request_head writes them, with or without the blank
  /// line. `named`: cache of the names that Connection lists in that head; empty until first used. Keep it
  /// between lookups in the same head, because the list may have thousands of members.
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
