#include "proxy/observe/json_members.hpp"

#include "proxy/observe/line_parts.hpp"

namespace reprise::observe {

void name_member(std::string& out, std::string_view member) {
  out += ",\"";
  out += member;
  out += "\":";
}

void word_member(std::string& out, std::string_view member, std::string_view value) {
  name_member(out, member);
  out += '"';
  out += value;
  out += '"';
}

void text_member(std::string& out, std::string_view member, std::string_view value) {
  name_member(out, member);
  append_json(out, value);
}

void number_member(std::string& out, std::string_view member, std::uint64_t value) {
  name_member(out, member);
  append_number(out, value);
}

void span_member(std::string& out, std::string_view member, policy::Duration value) {
  name_member(out, member);
  append_milliseconds(out, value);
}

void flag_member(std::string& out, std::string_view member) {
  name_member(out, member);
  out += "true";
}

}  // namespace reprise::observe
