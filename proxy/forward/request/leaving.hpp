// The fields of a request as they leave: what idempotency rules may go by.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/hop_by_hop.hpp"

namespace reprise::forward {

/// A field that does not reach the upstream proves nothing (row L11): only what is in the outgoing head
/// counts, with the value that it has there. A field that Connection lists counts neither, not even one that
/// goes on all the same (row J1): its sender has said that it is for this hop alone. Borrows all.
class LeavingFields final : public policy::FieldLines {
 public:
  /// `outgoing`: start line and field lines, as write_request_head gives them, blank line or not.
  /// `named`: what Connection lists in that head, or nothing yet: then it is read into it when it is first
  /// needed. Keep it for the next question about the same head: it may have thousands of members.
  LeavingFields(const http::RequestHead& head, std::string_view outgoing,
                std::optional<http::NamedByConnection>& named)
      : head_(head), outgoing_(outgoing), named_(named) {}

  bool has(std::string_view name, std::string_view value) const override;

 private:
  const http::RequestHead& head_;
  std::string_view outgoing_;
  std::optional<http::NamedByConnection>& named_;
};

}  // namespace reprise::forward
