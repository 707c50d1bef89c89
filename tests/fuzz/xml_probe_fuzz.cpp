// Fuzz target: the search in XML bodies. In a generated document, the search finds the generated texts. In
// arbitrary bytes, text around an element does not change the result.
#include "proxy/http/body_rules/xml_probe.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using http::XmlText;

/// Writes a document from the fuzzer's numbers. Records the text of the first element Code, and of the first
/// Code inside an element Error.
class Author {
 public:
  explicit Author(Input& input) : input_(input) {}

  void write() {
    if (input_.flip()) text_ += "\xEF\xBB\xBF";
    if (input_.flip()) text_ += "<?xml version=\"1.0\"?>\n";
    aside();
    element("Response", 0);
    aside();
  }
  const std::string& text() const { return text_; }
  const std::optional<std::string>& code() const { return code_; }
  const std::optional<std::string>& error_code() const { return error_code_; }

 private:
  // Adds text that is not an element: blanks, a comment or a processing instruction.
  void aside() {
    static constexpr std::array<std::string_view, 4> asides{"", " \n", "<!-- <Code>no</Code> -->",
                                                            "<?x <Code>no</Code>?>"};
    text_ += input_.of(asides);
  }

  std::string tag(std::string_view name) {
    static constexpr std::array<std::string_view, 4> attributes{"", " ", " a='>'", " b=\"/>\" "};
    const bool prefixed = input_.upto(5) == 0;
    const std::string whole = (prefixed ? "s:" : "") + std::string(name);
    text_.append("<").append(whole).append(input_.of(attributes));
    return whole;
  }

  void element(std::string_view name, unsigned depth) {
    static constexpr std::array<std::string_view, 5> names{"Error", "Code", "Message", "Code", "Errors"};
    const std::string whole = tag(name);
    text_ += ">";
    for (std::uint64_t count = depth < 6 ? input_.upto(3) : 0; count > 0; --count) {
      aside();
      const std::string_view child = input_.of(names);
      if (child == "Code") {
        code(name == "Error");
      } else {
        element(child, depth + 1);
      }
    }
    text_.append("</").append(whole).append(input_.flip() ? ">" : " >");
  }

  void code(bool in_error) {
    static constexpr std::array<std::string_view, 5> parts{"Slow", "Down", "<![CDATA[<x>]]>", "<!-- y -->",
                                                           "&amp;"};
    const std::string whole = tag("Code");
    std::string read;
    if (input_.upto(7) == 0) {
      text_ += "/>";
    } else {
      text_ += ">";
      for (std::uint64_t count = input_.upto(3); count > 0; --count) {
        const std::string_view part = input_.of(parts);
        text_ += part;
        read += part.starts_with("<![") ? "<x>" : (part.starts_with("<!") ? "" : part);
      }
      text_.append("</").append(whole).append(">");
    }
    if (!code_) code_ = read;
    if (in_error && !error_code_) error_code_ = read;
  }

  Input& input_;
  std::string text_;
  std::optional<std::string> code_, error_code_;
};

void judge_written(Input& input) {
  Author author(input);
  author.write();
  const auto agrees = [&](const char* path, const std::optional<std::string>& wanted) {
    const bool there = wanted && !wanted->empty();
    const XmlText probe(author.text());
    return probe.has_at(path, {}) == there && (!there || probe.has_at(path, {*wanted})) &&
           !probe.has_at(path, {"no such text"});
  };
  law(agrees("Code", author.code()), "what was written is found");
  law(agrees("Error.Code", author.error_code()), "and at its path");
}

void judge_any(std::string_view bytes) {
  const std::string text(bytes);
  const bool found = XmlText(text).has_at("Code", {});
  law(XmlText(text).has_at("Code", {.matches = {"*"}}) == found, "any text is like a star");
  law(XmlText("\n<!-- x --><?y?>" + text).has_at("Code", {}) == found || text.starts_with("\xEF\xBB\xBF"),
      "what stands before the root changes nothing");
  if (text.find("]]>") == std::string::npos)
    law(!XmlText("<w><![CDATA[" + text + "]]></w>").has_at("Code", {}), "character data has no elements");
  if (text.find("-->") == std::string::npos)
    law(!XmlText("<w><!--" + text + "--></w>").has_at("Code", {}), "nor has a comment");
  law(!XmlText("<!DOCTYPE w>" + text).has_at("Code", {}), "nor has a text with a document type");
  if (found && !text.starts_with("\xEF\xBB\xBF") && std::count(text.begin(), text.end(), '<') < 60)
    law(XmlText("<w>" + text + "</w>").has_at("Code", {}), "one element more around it changes nothing");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  judge_any(Input(bytes, size).rest());
  Input input(bytes, size);
  judge_written(input);
  return 0;
}
