// Gives predicates access to a response: its fields, and its whole body or its first event.
#pragma once

#include <string_view>

#include "proxy/http/body_rules/event_stream.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/hold.hpp"

namespace reprise::http {

/// Returns the kind of body that the Content-Type names. `application/json`, `application/x-amz-json-*` and
/// any `+json` are JSON; `application/xml`, `text/xml` and any `+xml` are XML. A body without Content-Type is
/// `untyped`. A body with a content coding is `other`.
policy::BodyKind body_kind(const ResponseHead&);

/// The fields of a response. Refers to the head, which must outlive this object.
class ResponseFields final : public policy::HeadView {
 public:
  explicit ResponseFields(const ResponseHead& head) : head_(head) {}
  bool has(std::string_view name, const policy::TextRule&) const override;

 private:
  const ResponseHead& head_;
};

/// The whole body of a response, and the kind of that body. Refers to the text, which must outlive this
/// object.
class WholeResponse final : public policy::BodyView {
 public:
  WholeResponse(std::string_view text, policy::BodyKind kind) : text_(text), kind_(kind) {}
  std::string_view event() const override { return {}; }
  bool has_json(std::string_view path, const policy::TextRule&) const override;
  bool has_xml(std::string_view path, const policy::TextRule&) const override;

 private:
  std::string_view text_;
  policy::BodyKind kind_;
};

/// The first event of a stream. Refers to the event, which must outlive this object. Has no JSON until the
/// event is complete.
class EventResponse final : public policy::BodyView {
 public:
  explicit EventResponse(const FirstEvent& event) : event_(event) {}
  std::string_view event() const override { return event_.name(); }
  bool has_json(std::string_view path, const policy::TextRule&) const override;
  bool has_xml(std::string_view, const policy::TextRule&) const override { return false; }

 private:
  const FirstEvent& event_;
};

}  // namespace reprise::http
