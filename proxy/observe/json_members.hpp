// Members of a JSON object that is being written: each begins with a comma, for something stands before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/observe/json_text.hpp"
#include "proxy/policy/outcome.hpp"

namespace reprise::observe {

void name_member(std::string& out, std::string_view member);
/// `value` needs no escapes: a word of a closed list, or of our own making.
void word_member(std::string& out, std::string_view member, std::string_view value);
void text_member(std::string& out, std::string_view member, std::string_view value);
void number_member(std::string& out, std::string_view member, std::uint64_t value);
/// Milliseconds with three decimals.
void span_member(std::string& out, std::string_view member, policy::Duration value);
/// `true`: one that is not is left out.
void flag_member(std::string& out, std::string_view member);

}  // namespace reprise::observe
