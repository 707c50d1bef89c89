#include "config/yaml/replace.hpp"

#include <algorithm>
#include <utility>

#include "config/yaml/file_text.hpp"
#include "config/yaml/raw_text.hpp"

namespace reprise::config {
namespace {

// The text that replaces one `${..}`, or the reason why there is none.
struct Replacement {
  std::optional<std::string> text;
  std::string problem;
};

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), allowed);
}

Replacement from_environment(std::string_view body, const Environment& environment) {
  const std::size_t dash = body.find(":-");
  const std::string_view name = body.substr(0, dash);
  if (!is_variable_name(name))
    return {std::nullopt, in_quotes(name) + " is not a variable name: write ${env:NAME}"};
  auto value = environment ? environment(name) : std::nullopt;
  if (value) return {std::move(value), {}};
  if (dash != std::string_view::npos) return {std::string(body.substr(dash + 2)), {}};
  return {std::nullopt, "variable " + in_quotes(name) +
                            " is not set: set it, or write ${env:" + std::string(name) + ":-default}"};
}

Replacement from_file(std::string_view path) {
  if (!path.starts_with('/'))
    return {std::nullopt, "the path " + in_quotes(path) + " is not absolute: write ${file:/path}"};
  if (has_control(path))
    return {std::nullopt, "the path " + in_quotes(path) + " has a control character in it"};
  FileText file = text_of_file(std::string(path), largest_replacement);
  if (!file.trouble.empty()) return {std::nullopt, "cannot read " + in_quotes(path) + ": " + file.trouble};
  std::string& text = file.text;
  if (text.size() > largest_replacement)
    return {std::nullopt,
            in_quotes(path) + " is larger than " + std::to_string(largest_replacement / 1024) + " KiB"};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return {std::move(text), {}};
}

class Replacer {
 public:
  Replacer(const Environment& environment, Report& report) : environment_(environment), report_(report) {}

  void visit(Node& node, const std::string& path) {
    if (node.kind == Node::Kind::scalar) replace(node, path);
    for (std::size_t i = 0; i < node.items.size(); ++i)
      visit(node.items[i], path + "[" + std::to_string(i) + "]");
    for (Entry& entry : node.entries) visit(entry.value, child_path(path, entry.key));
  }

 private:
  void replace(Node& node, const std::string& path) {
    std::string result;
    std::string_view left = node.text;
    for (;;) {
      const std::size_t start = left.find("${");
      if (start == std::string_view::npos) break;
      if (start > 0 && left[start - 1] == '$') {
        result.append(left.substr(0, start - 1)).append("${");
        left.remove_prefix(start + 2);
        continue;
      }
      result.append(left.substr(0, start));
      const std::size_t end = left.find('}', start);
      if (end == std::string_view::npos)
        return fail(node, path, "${ has no closing }: write the }, or write $${ for a literal ${");
      const std::string_view body = left.substr(start + 2, end - start - 2);
      Replacement replacement = look_up(body);
      if (!replacement.text) return fail(node, path, replacement.problem);
      node.origin.append(node.origin.empty() ? "" : " ").append(named(body));
      if (has_control(*replacement.text))
        return fail(node, path, named(body) + " has a line break or another control character in it");
      result.append(*replacement.text);
      left.remove_prefix(end + 1);
    }
    node.text = result.append(left);
  }

  Replacement look_up(std::string_view body) {
    Replacement found;
    if (body.starts_with("env:")) {
      found = from_environment(body.substr(4), environment_);
    } else if (body.starts_with("file:")) {
      found = from_file(body.substr(5));
      report_.file(std::string(body.substr(5)));
    } else {
      found.problem = in_quotes(body) +
                      " is not known: write ${env:NAME}, ${env:NAME:-default} or ${file:/path}, or write $${ "
                      "for a literal ${";
    }
    // Limits the total size of all replacements. Otherwise a file that is inserted a thousand times could
    // exhaust the memory.
    total_ += found.text ? found.text->size() : 0;
    if (total_ > largest_file) return {std::nullopt, "all replacements together are larger than 1 MiB"};
    return found;
  }

  // Returns the text of a `${..}` without its default, which may be a secret.
  static std::string named(std::string_view body) {
    return "${" + std::string(body.substr(0, body.find(":-"))) + "}";
  }

  void fail(Node& node, const std::string& path, std::string message) {
    node.broken = true;
    report_.error(node.line, node.column, path, std::move(message));
  }

  const Environment& environment_;
  Report& report_;
  std::size_t total_ = 0;
};

}  // namespace

void replace_all(Node& root, const Environment& environment, Report& report) {
  Replacer(environment, report).visit(root, {});
}

}  // namespace reprise::config
