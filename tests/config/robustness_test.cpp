// Tests the loader with mutated files: it never throws, never crashes, and takes bounded time.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/reference/effective.hpp"
#include "tests/config/golden.hpp"
#include "tests/support/chance.hpp"

namespace reprise::config::robustness_test {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts{golden::read(golden::in_source("config/reprise.yaml"))};
  for (const char* folder : {"config/examples", "tests/golden/config"}) {
    for (const auto& file : std::filesystem::directory_iterator(golden::in_source(folder))) {
      if (file.path().extension() == ".yaml") texts.push_back(golden::read(file.path()));
    }
  }
  return texts;
}

class Mutator {
 public:
  Mutator() : texts_(seeds()) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t i = 1 + below(4); i > 0; --i) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_.below(limit); }

  void mutate(std::string& text) {
    static const std::vector<std::string> pieces{"&a ",
                                                 "*a",
                                                 "!!int ",
                                                 "? ",
                                                 ": ",
                                                 "- ",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "|\n",
                                                 ">\n",
                                                 "\"",
                                                 "'",
                                                 "#",
                                                 "\n",
                                                 "\t",
                                                 "${env:A}",
                                                 "${file:/dev/null}",
                                                 "${",
                                                 "---\n",
                                                 "...\n",
                                                 "%YAML 1.2\n",
                                                 "<<: ",
                                                 "~",
                                                 "\xff",
                                                 std::string(1, '\0'),
                                                 "\xc3\xa9"};
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0: text.insert(at, pieces[below(pieces.size())]); break;
      case 1: text.erase(at, 1 + below(10)); break;
      case 2: text.insert(at, 1, static_cast<char>(below(256))); break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(60))); break;
      default: text.resize(at); break;
    }
  }

  play::Chance random_{20240601};
  std::vector<std::string> texts_;
};

std::optional<std::string> environment(std::string_view name) {
  return name == "A" ? std::optional<std::string>("value") : std::nullopt;
}

TEST(Robustness, mutated_files_load_or_report_an_error) {
  Mutator mutator;
  std::size_t loaded_count = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutator.next();
    SCOPED_TRACE(text);
    Loaded loaded;
    ASSERT_NO_THROW(loaded = load_text(text, environment));
    bool error = false;
    for (const Problem& problem : loaded.problems) {
      error = error || problem.severity == Problem::Severity::error;
      ASSERT_EQ(problem.message.find('\n'), std::string::npos);
      ASSERT_EQ(to_line(problem, "f").find('\n'), std::string::npos);
    }
    ASSERT_EQ(loaded.settings.has_value(), !error);
    if (!loaded.settings) continue;
    ++loaded_count;
    const std::string printed = effective_yaml(*loaded.settings);
    const Loaded again = load_text(printed, environment);
    ASSERT_TRUE(again.settings) << printed;
    ASSERT_EQ(effective_yaml(*again.settings), printed);
  }
  EXPECT_GT(loaded_count, 50U) << "the mutations must leave some files whole";
}

TEST(Robustness, loading_hostile_files_of_one_mebibyte_does_not_throw) {
  constexpr std::size_t size = 1024 * 1024;
  for (const std::string piece :
       {"[", "{a: ", "- ", "? ", "a:\n", "&a ", "*a ", "\"", "|\n ", "${env:A}", "- {a: 1}\n", "---\n"}) {
    std::string text = "version: 1\nroutes:\n";
    while (text.size() + piece.size() <= size) text.append(piece);
    EXPECT_NO_THROW(static_cast<void>(load_text(text, environment))) << piece;
  }
}

}  // namespace
}  // namespace reprise::config::robustness_test
