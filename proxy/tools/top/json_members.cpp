#include "proxy/tools/top/json_members.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::tools {

namespace json = boost::json;

std::optional<double> number_in(const json::value& value) {
  if (const auto* whole = value.if_int64()) return static_cast<double>(*whole);
  if (const auto* natural = value.if_uint64()) return static_cast<double>(*natural);
  if (const auto* real = value.if_double()) return *real;
  return std::nullopt;
}

std::uint64_t count_in(double number) {
  constexpr double highest = 9.0e18;
  return static_cast<std::uint64_t>(std::llround(std::clamp(number, 0.0, highest)));
}

const json::value* Members::find(std::string_view name) const {
  return object_->if_contains(json::string_view(name.data(), name.size()));
}

std::string Members::own(std::string_view text) const {
  return charset_ == nullptr ? std::string(text) : shown(text, *charset_);
}

std::string Members::text(std::string_view name) const {
  const json::value* const found = find(name);
  const json::string* const text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : own({text->data(), text->size()});
}

std::vector<std::string> Members::texts(std::string_view name) const {
  std::vector<std::string> all;
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_array()) return all;
  for (const json::value& one : found->get_array())
    if (const json::string* const text = one.if_string()) all.push_back(own({text->data(), text->size()}));
  return all;
}

std::optional<double> Members::number(std::string_view name) const {
  const json::value* const found = find(name);
  return found == nullptr ? std::nullopt : number_in(*found);
}

std::uint64_t Members::count(std::string_view name) const { return count_in(number_or_0(name)); }

std::optional<std::int64_t> Members::whole(std::string_view name) const {
  const auto found = number(name);
  if (!found) return std::nullopt;
  constexpr double far = 9.0e18;
  return std::llround(std::clamp(*found, -far, far));
}

bool Members::flag(std::string_view name) const {
  const json::value* const found = find(name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::vector<double> Members::numbers(std::string_view name) const {
  std::vector<double> all;
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_array()) return all;
  for (const json::value& one : found->get_array()) all.push_back(number_in(one).value_or(0));
  return all;
}

std::optional<Members> Members::object(std::string_view name) const {
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_object()) return std::nullopt;
  return Members(found->get_object(), charset_);
}

std::vector<Members> Members::objects(std::string_view name) const {
  std::vector<Members> all;
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_array()) return all;
  for (const json::value& one : found->get_array())
    if (one.is_object()) all.emplace_back(one.get_object(), charset_);
  return all;
}

std::vector<std::pair<std::string, double>> Members::named_numbers(std::string_view name) const {
  std::vector<std::pair<std::string, double>> all;
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_object()) return all;
  for (const auto& [key, value] : found->get_object())
    if (const auto number = number_in(value)) all.emplace_back(own({key.data(), key.size()}), *number);
  return all;
}

}  // namespace reprise::tools
