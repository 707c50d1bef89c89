#include "proxy/inject/inject.hpp"

#include <optional>

#include "proxy/inject/documents.hpp"
#include "proxy/inject/manifest.hpp"
#include "proxy/inject/pod.hpp"
#include "proxy/inject/removal.hpp"
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

/// A document that is YAML, and its pods: none if it is no workload.
struct Parsed {
  Tree tree;
  std::vector<const Node*> pods;
};

std::variant<Parsed, Fault> parsed(std::string_view text) {
  auto read_text = read(text);
  if (Fault* fault = std::get_if<Fault>(&read_text)) return no_yaml(*fault, text);
  Parsed result{std::get<Tree>(std::move(read_text)), {}};
  const Node* root = result.tree.root;
  if (root == nullptr) return result;
  if (root->kind != Node::Kind::mapping)
    return Fault{root->line, root->column, "no Kubernetes object: that is a mapping of keys"};
  auto found = pods_of(*root);
  if (Fault* fault = std::get_if<Fault>(&found)) return with_advice(std::move(*fault), text);
  result.pods = std::get<0>(std::move(found));
  if (!result.pods.empty() && result.tree.unlike_object) return with_advice(*result.tree.unlike_object, text);
  return result;
}

/// What inject() made of one document.
struct Edited {
  std::string text;  ///< empty: nothing has changed
  std::size_t pods = 0;
  std::size_t already = 0;
  std::vector<Fault> remarks;
};

std::variant<Edited, Fault> edited(std::string_view text, const Parsed& document, const Sidecar& sidecar,
                                   UndoForm form) {
  Edited result;
  Edits edits(text);
  for (const Node* pod : document.pods) {
    if (is_injected(*pod)) {
      ++result.already;
      continue;
    }
    auto remarks = inject_pod(*pod, sidecar, form, edits);
    if (Fault* fault = std::get_if<Fault>(&remarks)) return std::move(*fault);
    for (Fault& one : std::get<0>(remarks)) result.remarks.push_back(std::move(one));
    ++result.pods;
  }
  if (!edits.empty()) result.text = edits.applied();
  return result;
}

/// Whether `after` says what `before` says, and reprise besides.
std::optional<Fault> compared(const Node& before, std::string_view after) {
  auto tree = read(after);
  if (Fault* fault = std::get_if<Fault>(&tree))
    return Fault{
        before.line, before.column,
        "this cannot be edited as it is written: write its lists in blocks (" + fault->message + ")"};
  return first_difference(before, *std::get<Tree>(tree).root);
}

/// What remove() makes of one document.
struct TakenOut {
  std::string text;  ///< empty: nothing has changed
  std::size_t pods = 0;
  std::vector<Fault> remarks;
};

std::variant<TakenOut, Fault> taken_out(std::string_view text) {
  auto document = parsed(text);
  if (Fault* fault = std::get_if<Fault>(&document)) return std::move(*fault);
  const Parsed& before = std::get<Parsed>(document);
  TakenOut result;
  Edits edits(text);
  for (const Node* pod : before.pods) {
    if (our_container(*pod) != nullptr) {
      if (auto fault = remove_from_pod(*pod, edits)) return *fault;
      ++result.pods;
    } else if (is_injected(*pod)) {
      result.remarks.push_back(
          {pod->line, pod->column, "the container reprise was not added by `reprise inject`: it stays"});
    }
  }
  if (edits.empty()) return result;
  result.text = edits.applied();
  auto after = read(result.text);
  const Tree* tree = std::get_if<Tree>(&after);
  if (tree == nullptr || tree->root == nullptr || first_difference(*tree->root, *before.tree.root))
    return Fault{
        before.tree.root->line, before.tree.root->column,
        "reprise cannot be taken out as this is written, because it was changed after `reprise inject`: "
        "take it out by hand"};
  return result;
}

bool comes_back(std::string_view injected_text, std::string_view original) {
  const auto back = taken_out(injected_text);
  const TakenOut* const result = std::get_if<TakenOut>(&back);
  return result != nullptr && result->text == original;
}

/// The whole of one document; adds to `done`.
std::optional<Fault> inject_document(const Document& document, const Sidecar& sidecar, Injected& done) {
  auto before = parsed(document.text);
  if (Fault* fault = std::get_if<Fault>(&before)) return std::move(*fault);
  const Parsed& known = std::get<Parsed>(before);
  auto once = edited(document.text, known, sidecar, UndoForm::left_out);
  if (Fault* fault = std::get_if<Fault>(&once)) return std::move(*fault);
  Edited& result = std::get<Edited>(once);
  done.pods += result.pods;
  done.already += result.already;
  for (Fault& one : result.remarks) done.remarks.push_back(remark(document, std::move(one)));
  if (result.text.empty()) {
    done.text += document.text;
    return std::nullopt;
  }
  if (auto fault = compared(*known.tree.root, result.text)) return fault;
  for (const UndoForm form : {UndoForm::values, UndoForm::whole}) {
    if (comes_back(result.text, document.text)) break;
    auto again = edited(document.text, known, sidecar, form);
    if (Edited* with_facts = std::get_if<Edited>(&again)) result.text = std::move(with_facts->text);
    if (auto fault = compared(*known.tree.root, result.text)) return fault;
  }
  done.text += result.text;
  return std::nullopt;
}

std::optional<Fault> remove_document(const Document& document, Removed& done) {
  auto outcome = taken_out(document.text);
  if (Fault* fault = std::get_if<Fault>(&outcome)) return std::move(*fault);
  TakenOut& result = std::get<TakenOut>(outcome);
  done.pods += result.pods;
  for (Fault& one : result.remarks) done.remarks.push_back(remark(document, std::move(one)));
  done.text += result.text.empty() ? document.text : std::string_view(result.text);
  return std::nullopt;
}

/// Each document of a file, one after the other; the first fault ends it.
template <typename Done, typename Change>
std::variant<Done, Remark> changed(std::string_view file, Change change) {
  if (auto fault = not_text(file)) return Remark{1, fault->line, fault->column, std::move(fault->message)};
  Done done;
  for (const Document& document : documents_of(file)) {
    if (document.number == 0) {
      done.text += document.text;
    } else if (auto fault = change(document, done)) {
      return remark(document, std::move(*fault));
    }
  }
  return done;
}

}  // namespace

std::variant<Injected, Remark> inject(std::string_view file, const Sidecar& sidecar) {
  return changed<Injected>(file, [&sidecar](const Document& document, Injected& done) {
    return inject_document(document, sidecar, done);
  });
}

std::variant<Removed, Remark> remove(std::string_view file) {
  return changed<Removed>(file, remove_document);
}

}  // namespace reprise::inject
