#include "config/yaml/yaml_mistake.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/yaml/document.hpp"

namespace reprise::config {
namespace {

/// Returns the problem of a text as `line:column: message`. If the text has no problem or several problems,
/// returns the number of problems.
std::string told(const std::string& text) {
  Report report;
  parse_document(text, report);
  const std::vector<Problem> problems = report.take();
  if (problems.size() != 1) return std::to_string(problems.size()) + " problems";
  return std::to_string(problems[0].line) + ":" + std::to_string(problems[0].column) + ": " +
         problems[0].message;
}

void expect(const std::string& text, const std::string& beginning) {
  const std::string message = told(text);
  EXPECT_EQ(message.substr(0, beginning.size()), beginning) << text << message;
}

TEST(YamlMistake, wrong_indentation_is_reported_with_the_valid_columns) {
  expect("a:\n  b:\n    c: 1\n   d: 2\n",
         "4:4: this line is indented by 3 spaces, which matches no line above it: keys of one mapping must "
         "start in the same column; indent this line by 0, 2 or 4 spaces");
  expect("a:\n  b: 1\n    c: 2\n", "3:5: this line is indented by 4 spaces");
  expect("a:\n- b: 1\n - c: 2\n", "3:2: this line is indented by 1 space,");
  expect("a: 1\n b: 2\n",
         "2:2: this line is indented by 1 space, which matches no line above it: keys of one mapping must "
         "start in the same column; indent this line by 0 spaces");
  expect("a:\n  # comment\n\n  b: 1\n     c: 2\n", "5:6: this line is indented by 5 spaces");
}

TEST(YamlMistake, unquoted_replacement_inside_brackets_is_reported) {
  expect("a: {b: ${env:X}}\n",
         "1:8: ${...} inside brackets must be quoted, because its own braces end the mapping: write "
         "\"${env:X}\"");
  expect("a: [{b: 1, c: ${file:/x/y}, d: 2}]\n", "1:15: ${...} inside brackets");
}

TEST(YamlMistake, value_with_a_reserved_first_character_is_reported_with_its_quoted_form) {
  expect("a: *.example.com\n", "1:4: a value that begins with * must be quoted: write \"*.example.com\"");
  expect("a: {b: *.x, c: 1}\n", "1:8: a value that begins with * must be quoted: write \"*.x\"");
  expect("a: @b\n", "1:4: a value that begins with @");
  expect("a: `b`\n", "1:4: a value that begins with `");
  expect("a: %b\n", "1:4: a value that begins with %");
}

TEST(YamlMistake, unclosed_and_unmatched_brackets_and_quotes_are_reported) {
  expect("a: {b: 1\nc: 2\n", "1:4: this { is not closed: write the } where the mapping ends");
  expect("a: [1, 2\nb: 3\n", "1:4: this [ is not closed: write the ] where the list ends");
  expect("a: {b: [1, {c: 2}\n", "1:8: this [ is not closed");
  expect("a: {b: \"c}\n", "1:8: this quotation mark is not closed: write another \" at the end of the value");
  expect("a: {b: 'it''s}\n", "1:8: this quotation mark is not closed");
  expect("a: {b: 1}}\n", "1:10: this } has no opening bracket: remove it, or write the { before it");
  expect("a: [1]]\n", "1:7: this ] has no opening bracket");
  expect("a: {b: \"\\\"}\", c: '}', d: 1 # }\n", "1:4: this { is not closed");
}

TEST(YamlMistake, missing_blank_after_a_colon_and_two_keys_in_a_line_are_reported) {
  expect("a:\n  b:1\n  c: 2\n", "2:5: a space is missing after the colon: write b: 1");
  expect("a:\n  - b:1\n    c: 2\n", "2:7: a space is missing after the colon: write b: 1");
  expect("a: b: c\n",
         "1:4: two keys are on one line: write a: {b: c}, or write the second key on its own line");
}

TEST(YamlMistake, list_item_among_keys_is_reported) {
  expect("a: 1\n- b\n", "2:1: a list item is in the place of a key");
}

TEST(YamlMistake, parser_messages_never_reach_the_user) {
  for (const std::string text :
       {"a: \"\\q\"\n", "? [\n", "a: 1\n? b\n- c\n", "{", "[", "}", "a: {? b}", "- a\nb: c\n", "a: |x\n b\n",
        "a: 'b' c\n", "a: \"b\"c: d\n", "\"a\n", "%\n"}) {
    const std::string message = told(text);
    for (const std::string word : {"end of", "illegal", "unknown token", "anchor is not defined", "parser"}) {
      EXPECT_EQ(message.find(word), std::string::npos) << text << message;
    }
  }
}

TEST(YamlMistake, missing_blank_is_suggested_only_after_a_possible_key) {
  EXPECT_EQ(with_blank_behind_colon("mode:off"), "mode: off");
  EXPECT_EQ(with_blank_behind_colon("a_b-1:[x]"), "a_b-1: [x]");
  for (const std::string text :
       {"mode: off", "mode:", ":off", "mode", "http://h", "127.0.0.1:80", "80:80", "fe80::1", ""})
    EXPECT_EQ(with_blank_behind_colon(text), "") << text;
}

}  // namespace
}  // namespace reprise::config
