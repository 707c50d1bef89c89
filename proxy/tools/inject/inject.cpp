#include "proxy/tools/inject/inject.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/tools/inject/defaults.hpp"
#include "proxy/tools/inject/documents.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/removal.hpp"
#include "proxy/tools/inject/sameness.hpp"

namespace reprise::tools {
namespace {

Remark remark(const Document& document, Fault fault) {
  return {document.number, document.first_line + fault.line - 1, fault.column, std::move(fault.message)};
}

Fault with_advice(Fault fault, std::string_view text) {
  if (text.find("{{") != std::string_view::npos) fault.message += " (is this a template? render it first)";
  return fault;
}

/// Returns the fault for a text that is not YAML. If a line up to the fault is indented with a tab, the fault
/// names the tab as the cause, whatever the parser reports.
Fault no_yaml(const Fault& fault, std::string_view text) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size() && line <= fault.line; ++line) {
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first != std::string_view::npos && text[first] == '\t')
      return {line, first - at + 1, "not YAML: this line is indented with a tab: write spaces"};
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return with_advice({fault.line, fault.column, "not YAML: " + fault.message}, text);
}

/// Returns a fault for a line that ends with a carriage return alone. YAML accepts such a line, but the
/// edits, which work on lines, do not support it.
std::optional<Fault> lone_return(std::string_view text) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && text.substr(at + 1, 1) != "\n")
      return Fault{line, at - line_start + 1,
                   "this line ends with only a carriage return: write \\n or \\r\\n"};
    if (text[at] != '\n') continue;
    ++line;
    line_start = at + 1;
  }
  return std::nullopt;
}

/// A parsed document and its pods. `pods` is empty if the document is not a workload.
struct Parsed {
  Tree tree;
  std::vector<Pod> pods;
};

std::variant<Parsed, Fault> parsed(std::string_view text) {
  auto read_text = read(text);
  if (Fault* fault = std::get_if<Fault>(&read_text)) return no_yaml(*fault, text);
  Parsed result{std::get<Tree>(std::move(read_text)), {}};
  const Node* root = result.tree.root;
  if (root == nullptr) return result;
  if (root->kind != Node::Kind::mapping)
    return Fault{root->line, root->column, "not a Kubernetes object: an object is a mapping of keys"};
  auto found = pods_of(*root);
  if (Fault* fault = std::get_if<Fault>(&found)) return with_advice(std::move(*fault), text);
  result.pods = std::get<0>(std::move(found));
  if (result.pods.empty()) return result;
  if (auto fault = lone_return(text)) return *fault;
  if (result.tree.unlike_object) return with_advice(*result.tree.unlike_object, text);
  return result;
}

/// Returns the text after reprise was removed from the given pods.
std::variant<std::string, Fault> without_reprise(std::string_view text, const Parsed& before,
                                                 const std::vector<Pod>& pods) {
  Edits edits(text);
  for (const Pod& pod : pods) {
    if (auto fault = remove_from_pod(pod, edits)) return *fault;
  }
  if (edits.empty()) return std::string(text);
  std::string result = edits.applied();
  auto after = read(result);
  const Tree* tree = std::get_if<Tree>(&after);
  if (tree == nullptr || tree->root == nullptr || first_difference(*tree->root, *before.tree.root))
    return Fault{
        before.tree.root->line, before.tree.root->column,
        "reprise cannot be removed, because this was changed after `reprise inject`: remove it by hand"};
  return result;
}

std::vector<Pod> pods_with_sidecar(const Parsed& document) {
  std::vector<Pod> pods;
  for (const Pod& pod : document.pods)
    if (our_container(*pod.spec) != nullptr) pods.push_back(pod);
  return pods;
}

bool restores_original(std::string_view injected_text, std::string_view original) {
  const auto document = parsed(injected_text);
  const Parsed* const known = std::get_if<Parsed>(&document);
  if (known == nullptr) return false;
  const auto back = without_reprise(injected_text, *known, pods_with_sidecar(*known));
  const std::string* const result = std::get_if<std::string>(&back);
  return result != nullptr && *result == original;
}

/// Returns a fault if the content of `after` differs from `before` in more than the additions of reprise.
std::optional<Fault> compared(const Node& before, std::string_view after) {
  auto tree = read(after);
  if (Fault* fault = std::get_if<Fault>(&tree))
    return Fault{
        before.line, before.column,
        "this cannot be edited in its current form: write its lists in block style (" + fault->message + ")"};
  return first_difference(before, *std::get<Tree>(tree).root);
}

Remark note(const Document& document, const Node& where, std::string message) {
  Remark noted = remark(document, {where.line, where.column, std::move(message)});
  noted.is_note = true;
  return noted;
}

/// Adds reprise to one document.
class Injection {
 public:
  Injection(const Document& document, const Options& options, std::string_view version, Injected& done)
      : document_(document), options_(options), version_(version), done_(done) {}

  std::optional<Fault> run() {
    auto before = parsed(document_.text);
    if (Fault* fault = std::get_if<Fault>(&before)) return std::move(*fault);
    const Parsed& known = std::get<Parsed>(before);
    text_ = document_.text;
    if (known.tree.root != nullptr) count_other_objects(*known.tree.root);
    if (auto fault = choose(known)) return fault;
    if (replaced_.empty()) {
      if (auto fault = add_sidecars(known)) return fault;
    } else {
      auto without = without_reprise(text_, known, replaced_);
      if (Fault* fault = std::get_if<Fault>(&without)) return std::move(*fault);
      text_ = std::get<std::string>(std::move(without));
      auto again = parsed(text_);
      if (Fault* fault = std::get_if<Fault>(&again)) return std::move(*fault);
      if (auto fault = add_sidecars(std::get<Parsed>(again))) return fault;
    }
    finish(known);
    return std::nullopt;
  }

 private:
  /// Counts objects that are not known workloads, and adds notes about them.
  void count_other_objects(const Node& object) {
    const std::string_view kind = object.word("kind");
    if (is_list(object)) {
      for (const Node* item : object.find("items")->items) count_other_objects(*item);
      return;
    }
    if (const auto pods = pods_of(object); !std::get<0>(pods).empty()) return;
    if (const Node* metadata = object.find("metadata"); kind == "ConfigMap" && metadata != nullptr)
      done_.config_maps_there.insert(std::string(metadata->word("name")));
    const std::string path = unknown_containers(object);
    if (path.empty()) {
      done_.others[std::string(kind.empty() ? "object without a kind" : kind)] += 1;
      return;
    }
    done_.remarks.push_back(note(document_, object,
                                 "left unchanged: " + std::string(kind.empty() ? "it" : kind) +
                                     " is not a known kind of workload, but has " + path));
    ++done_.passed_over;
  }

  /// Decides whether each pod gets a sidecar, gets a new one instead of its existing sidecar, or stays
  /// unchanged.
  std::optional<Fault> choose(const Parsed& known) {
    for (const Pod& pod : known.pods) {
      const Node* const ours = our_container(*pod.spec);
      existing_.push_back(ours == nullptr ? Options() : options_of(*ours, pod));
      gets_sidecar_.push_back(false);
      if (const std::string why = obstacle(pod); !why.empty() && !is_injected(*pod.spec)) {
        done_.remarks.push_back(note(document_, *pod.spec, "left unchanged: " + why));
        ++done_.passed_over;
      } else if (ours == nullptr && is_injected(*pod.spec)) {
        done_.remarks.push_back(
            note(document_, *pod.spec,
                 "left unchanged: it has a container reprise that `reprise inject` did not add"));
        ++done_.already;
      } else {
        const auto wanted = sidecar_for(pod, options_, existing_.back(), version_);
        if (const Fault* fault = std::get_if<Fault>(&wanted)) return *fault;
        gets_sidecar_.back() = ours == nullptr || differs(std::get<Sidecar>(wanted), existing_.back()) ||
                               (options_.config && options_.config != existing_.back().config);
        if (gets_sidecar_.back() && ours != nullptr) replaced_.push_back(pod);
        if (!gets_sidecar_.back()) ++unchanged_;
      }
    }
    return std::nullopt;
  }

  /// Sets `sidecars_`: the settings of each pod's sidecar, or nothing if the pod gets no sidecar.
  std::optional<Fault> decide_sidecars(const Parsed& known) {
    for (std::size_t i = 0; i < known.pods.size(); ++i) {
      sidecars_.emplace_back();
      if (!gets_sidecar_[i]) continue;
      auto sidecar = sidecar_for(known.pods[i], options_, existing_[i], version_);
      if (Fault* fault = std::get_if<Fault>(&sidecar)) return std::move(*fault);
      sidecars_.back() = std::get<Sidecar>(std::move(sidecar));
      if (!sidecars_.back()->config_map.empty()) done_.config_maps.insert(sidecars_.back()->config_map);
    }
    return std::nullopt;
  }

  /// Adds the sidecars to `text_`. `known` is the parsed `text_`.
  std::optional<Fault> add_sidecars(const Parsed& known) {
    if (std::find(gets_sidecar_.begin(), gets_sidecar_.end(), true) == gets_sidecar_.end())
      return std::nullopt;
    if (auto fault = decide_sidecars(known)) return fault;
    const std::string before = text_;
    const bool carries_config = std::any_of(sidecars_.begin(), sidecars_.end(), [](const auto& sidecar) {
      return sidecar && !sidecar->config.empty();
    });
    MetadataForm metadata = MetadataForm::whole;
    auto edited = compared_edit(known, before, UndoForm::left_out, metadata);
    // Other objects may share the metadata through an anchor. The full edit is then rejected, because it
    // would change these objects too. Fewer annotations and labels are added instead: reprise needs only the
    // annotation with its configuration, if there is one.
    const std::pair<MetadataForm, const char*> less[] = {
        {MetadataForm::annotations,
         "no label was added, because other objects share these labels through an anchor"},
        {MetadataForm::left_out,
         "no annotation or label was added, because other objects share this metadata through an anchor"}};
    for (const auto& [form, why] : less) {
      if (std::holds_alternative<std::string>(edited)) break;
      auto with_less = compared_edit(known, before, UndoForm::left_out, form);
      if (std::holds_alternative<Fault>(with_less) || (form == MetadataForm::left_out && carries_config))
        continue;
      edited = std::move(with_less);
      metadata = form;
      remarks_.push_back({known.tree.root->line, known.tree.root->column, why});
    }
    if (Fault* fault = std::get_if<Fault>(&edited)) return std::move(*fault);
    std::vector<Fault> noted = remarks_;
    for (const UndoForm form : {UndoForm::values, UndoForm::whole}) {
      if (restores_original(std::get<std::string>(edited), before)) break;
      auto with_facts = compared_edit(known, before, form, metadata);
      if (Fault* fault = std::get_if<Fault>(&with_facts)) return std::move(*fault);
      edited = std::move(with_facts);
    }
    remarks_ = std::move(noted);
    text_ = std::get<std::string>(std::move(edited));
    return std::nullopt;
  }

  /// Returns the whole text with reprise added. Returns a fault if the edit changed anything else. Sets
  /// `remarks_`.
  std::variant<std::string, Fault> compared_edit(const Parsed& known, std::string_view text, UndoForm form,
                                                 MetadataForm metadata) {
    remarks_.clear();
    Edits edits(text);
    for (std::size_t i = 0; i < known.pods.size(); ++i) {
      if (!sidecars_[i]) continue;
      auto remarks = inject_pod(known.pods[i], *sidecars_[i], form, metadata, edits);
      if (Fault* fault = std::get_if<Fault>(&remarks)) return std::move(*fault);
      for (Fault& one : std::get<0>(remarks)) remarks_.push_back(std::move(one));
    }
    std::string after = edits.applied();
    if (auto fault = compared(*known.tree.root, after)) return *fault;
    return after;
  }

  void finish(const Parsed& before) {
    done_.pods += static_cast<std::size_t>(std::count(gets_sidecar_.begin(), gets_sidecar_.end(), true));
    if (text_ == document_.text && !gets_sidecar_.empty()) {
      unchanged_ += replaced_.size();
      done_.pods -= replaced_.size();
    } else {
      for (const Pod& pod : replaced_)
        done_.remarks.push_back(
            note(document_, *pod.spec,
                 "its sidecar, " + std::string(our_container(*pod.spec)->word("image")) + ", was replaced"));
    }
    done_.already += unchanged_;
    if (unchanged_ > 0)
      done_.remarks.push_back(note(document_, *before.tree.root, "left unchanged: it already has reprise"));
    for (Fault& one : remarks_) done_.remarks.push_back(remark(document_, std::move(one)));
    done_.text += text_;
  }

  const Document& document_;
  const Options& options_;
  std::string_view version_;
  Injected& done_;
  std::string text_;
  std::vector<Options> existing_;                 ///< options of the existing sidecar, indexed by pod
  std::vector<bool> gets_sidecar_;                ///< true if the pod gets a sidecar, indexed by pod
  std::vector<std::optional<Sidecar>> sidecars_;  ///< decided sidecars, indexed by pod
  std::vector<Pod> replaced_;
  std::size_t unchanged_ = 0;
  std::vector<Fault> remarks_;
};

std::optional<Fault> remove_document(const Document& document, Removed& done) {
  auto before = parsed(document.text);
  if (Fault* fault = std::get_if<Fault>(&before)) return std::move(*fault);
  const Parsed& known = std::get<Parsed>(before);
  const std::vector<Pod> ours = pods_with_sidecar(known);
  auto without = without_reprise(document.text, known, ours);
  if (Fault* fault = std::get_if<Fault>(&without)) return std::move(*fault);
  done.pods += ours.size();
  for (const Pod& pod : known.pods) {
    if (is_injected(*pod.spec) && our_container(*pod.spec) == nullptr)
      done.remarks.push_back(
          remark(document, {pod.spec->line, pod.spec->column,
                            "left unchanged: the container reprise was not added by `reprise inject`"}));
  }
  done.text += std::get<std::string>(without);
  return std::nullopt;
}

/// Changes each document of a file in order. Stops at the first fault.
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

std::variant<Injected, Remark> inject(std::string_view file, const Options& options,
                                      std::string_view version) {
  return changed<Injected>(file, [&](const Document& document, Injected& done) {
    return Injection(document, options, version, done).run();
  });
}

std::variant<Removed, Remark> remove(std::string_view file) {
  return changed<Removed>(file, remove_document);
}

}  // namespace reprise::tools
