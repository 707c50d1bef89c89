// Writes members of an open JSON object. Each member begins with a comma, so the object must already have
// one.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line.hpp"

namespace reprise::telemetry {

template <typename Out>
void name_member(Out& out, std::string_view member) {
  out += ",\"";
  out += member;
  out += "\":";
}

/// Writes into a Line with one append of a length known at compile time.
template <std::size_t N>
void name_member(Line& out, const char (&member)[N]) {
  char* at = out.extend(N + 3);
  *at++ = ',';
  *at++ = '"';
  std::memcpy(at, member, N - 1);
  at += N - 1;
  *at++ = '"';
  *at = ':';
}

/// Writes `value` without escaping it. Precondition: `value` needs no escapes: it is a word of a closed list,
/// or made by reprise.
template <typename Out, typename Name>
void word_member(Out& out, const Name& member, std::string_view value) {
  name_member(out, member);
  out += '"';
  out += value;
  out += '"';
}

template <typename Out, typename Name>
void text_member(Out& out, const Name& member, std::string_view value) {
  name_member(out, member);
  append_json(out, value);
}

template <typename Out, typename Name>
void number_member(Out& out, const Name& member, std::uint64_t value) {
  name_member(out, member);
  append_number(out, value);
}

/// Writes milliseconds, in the form of `append_milliseconds`.
template <typename Out, typename Name>
void span_member(Out& out, const Name& member, policy::Duration value) {
  name_member(out, member);
  append_milliseconds(out, value);
}

/// Writes `true`. A flag that is false is left out by the caller.
template <typename Out, typename Name>
void flag_member(Out& out, const Name& member) {
  name_member(out, member);
  out += "true";
}

}  // namespace reprise::telemetry
