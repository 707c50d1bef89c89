#include "config/reader.hpp"

namespace reprise::config {

const Node* locate(const Node& section, std::string_view path) {
  const Node* node = &section;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

}  // namespace reprise::config
