// Reads the values of one section of a document into the settings. Absent keys leave the settings unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/keys/values.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Reads values from a section: an object of this class is the argument `fields` of the functions in
/// fields.hpp. Reports no errors, because shape.hpp has already reported invalid values.
class Reader {
 public:
  /// `schema` is the section's path in the key table, such as `routes[].match`; "" for the whole file.
  Reader(const Node& section, std::string schema) : section_(section), schema_(std::move(schema)) {}

  template <typename T>
  void field(std::string_view path, T& target) {
    const Node* node = locate(section_, path);
    const Key* key = find_key(key_path(path));
    if (node != nullptr && !node->broken && key != nullptr) assign(*key, *node, target);
  }

  /// Reads a section that can be switched off. A word in place of the mapping switches the section off. A
  /// mapping switches the section on, even if a layer with lower precedence has switched it off.
  template <typename T, typename Function>
  void section(std::string_view path, std::optional<T>& target, Function inside) {
    const Node* node = locate(section_, path);
    if (node == nullptr || node->broken) return;
    if (node->kind == Node::Kind::scalar) target.reset();
    if (node->kind != Node::Kind::mapping) return;
    if (!target) target.emplace();
    inside(*target);
  }

 private:
  std::string key_path(std::string_view path) const {
    return schema_.empty() ? std::string(path) : schema_ + "." + std::string(path);
  }

  const Node& section_;
  std::string schema_;
};

}  // namespace reprise::config
