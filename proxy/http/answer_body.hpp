// What predicates see of an answer's body: a whole JSON text, or the first event of an event stream.
#pragma once

#include <string_view>

#include "proxy/http/event_stream.hpp"
#include "proxy/http/head.hpp"
#include "proxy/policy/hold.hpp"

namespace reprise::http {

/// By Content-Type: `application/json`, any `+json`, or none at all is JSON. A content-coded body is `other`.
policy::BodyKind body_kind(const ResponseHead&);

/// The whole body of an answer. Borrows.
class JsonAnswer final : public policy::BodyView {
 public:
  explicit JsonAnswer(std::string_view text) : text_(text) {}
  std::string_view event() const override { return {}; }
  bool has(std::string_view path, const std::optional<std::string>& equals) const override;

 private:
  std::string_view text_;
};

/// The first event of a stream, complete. Borrows.
class EventAnswer final : public policy::BodyView {
 public:
  explicit EventAnswer(const FirstEvent& event) : event_(event) {}
  std::string_view event() const override { return event_.name(); }
  bool has(std::string_view path, const std::optional<std::string>& equals) const override;

 private:
  const FirstEvent& event_;
};

}  // namespace reprise::http
