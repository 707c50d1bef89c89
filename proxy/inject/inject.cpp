#include "proxy/inject/inject.hpp"

#include <optional>

#include "proxy/inject/documents.hpp"
#include "proxy/inject/manifest.hpp"
#include "proxy/inject/pod.hpp"
#include "proxy/inject/sameness.hpp"

namespace reprise::inject {
namespace {

Remark remark(const Document& document, Fault fault) {
  return {document.number, document.first_line + fault.line - 1, fault.column, std::move(fault.message)};
}

Fault with_advice(Fault fault, std::string_view text) {
  if (text.find("{{") != std::string_view::npos) fault.message += " (is this a template? render it first)";
  return fault;
}

/// Of text that is no YAML: where a tab indents a line, that is why, whatever the parser met first.
Fault no_yaml(const Fault& fault, std::string_view text) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size() && line <= fault.line; ++line) {
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first != std::string_view::npos && text[first] == '\t')
      return {line, first - at + 1, "no YAML: a tab indents this line: write spaces"};
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return with_advice({fault.line, fault.column, "no YAML: " + fault.message}, text);
}

/// The whole of one document; adds to `done`.
std::optional<Fault> inject_document(const Document& document, const Sidecar& sidecar, Injected& done) {
  auto before = read(document.text);
  if (Fault* fault = std::get_if<Fault>(&before)) return no_yaml(*fault, document.text);
  const Tree& tree = std::get<Tree>(before);
  done.text += document.text;
  if (tree.root == nullptr) return std::nullopt;
  if (tree.root->kind != Node::Kind::mapping)
    return Fault{tree.root->line, tree.root->column, "no Kubernetes object: that is a mapping of keys"};
  auto found = pods_of(*tree.root);
  if (Fault* fault = std::get_if<Fault>(&found)) return with_advice(std::move(*fault), document.text);
  const auto& pods = std::get<0>(found);
  if (pods.empty()) return std::nullopt;
  if (tree.unlike_object) return with_advice(*tree.unlike_object, document.text);
  Edits edits(document.text);
  for (const Node* pod : pods) {
    if (is_injected(*pod)) {
      ++done.already;
      continue;
    }
    auto edited = inject_pod(*pod, sidecar, edits);
    if (Fault* fault = std::get_if<Fault>(&edited)) return std::move(*fault);
    for (Fault& one : std::get<0>(edited)) done.remarks.push_back(remark(document, std::move(one)));
    ++done.pods;
  }
  if (edits.empty()) return std::nullopt;
  const std::string text = edits.applied();
  auto after = read(text);
  if (Fault* fault = std::get_if<Fault>(&after))
    return Fault{
        tree.root->line, tree.root->column,
        "this cannot be edited as it is written: write its lists in blocks (" + fault->message + ")"};
  if (auto difference = first_difference(*tree.root, *std::get<Tree>(after).root)) return difference;
  done.text.replace(done.text.size() - document.text.size(), document.text.size(), text);
  return std::nullopt;
}

}  // namespace

std::variant<Injected, Remark> inject(std::string_view file, const Sidecar& sidecar) {
  if (auto fault = not_text(file)) return Remark{1, fault->line, fault->column, std::move(fault->message)};
  Injected done;
  for (const Document& document : documents_of(file)) {
    if (document.number == 0) {
      done.text += document.text;
    } else if (auto fault = inject_document(document, sidecar, done)) {
      return remark(document, std::move(*fault));
    }
  }
  return done;
}

}  // namespace reprise::inject
