#include "config/load.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "config/reference/effective.hpp"
#include "config/yaml/report.hpp"

namespace reprise::config::load_test {
namespace {

Environment environment(std::map<std::string, std::string, std::less<>> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string lines(const Loaded& loaded) {
  std::string text;
  for (const Problem& problem : loaded.problems) text.append(to_line(problem, "f.yaml")).append("\n");
  return text;
}

Settings load(std::string_view text, const Environment& variables = {}) {
  Loaded loaded = load_text(text, variables);
  EXPECT_EQ(lines(loaded), "") << text;
  return loaded.settings ? *loaded.settings : built_in();
}

std::string first_line(std::string_view text, const Environment& variables = {}) {
  const Loaded loaded = load_text(text, variables);
  return loaded.problems.empty() ? "" : to_line(loaded.problems.front(), "f.yaml");
}

/// A temporary file. The destructor removes it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(testing::TempDir() + "reprise-config-" +
              std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
              std::to_string(reinterpret_cast<std::uintptr_t>(this))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Load, file_with_only_a_version_gives_the_defaults) {
  EXPECT_EQ(effective_yaml(load("version: 1")), effective_yaml(built_in()));
  EXPECT_EQ(effective_yaml(load("\xef\xbb\xbfversion: 1\r\nthreads: 1\r\n")), effective_yaml(built_in()));
  EXPECT_EQ(effective_yaml(load("---\nversion: 1\n...\n")), effective_yaml(built_in()));
}

TEST(Load, routes_and_listeners_keep_their_line_numbers) {
  const Settings settings = load(
      "version: 1\nlisteners:\n  - {bind: 127.0.0.1:0}\nroutes:\n\n  - {name: a}\ndefaults: {mode: off}\n");
  EXPECT_EQ(settings.listeners.front().line, 3U);
  EXPECT_EQ((*settings.routes)[0].line, 6U);
  EXPECT_EQ((*settings.routes)[1].line, 7U);
  EXPECT_EQ((*settings.routes)[1].name, "default");
  EXPECT_EQ((*built_in().routes)[0].line, 0U);
}

TEST(Load, configuration_hash_is_twelve_hex_digits_of_the_file_bytes) {
  const std::string one = load_text("version: 1", {}).hash;
  EXPECT_EQ(one.size(), 12U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(one, load_text("version: 1", {}).hash);
  EXPECT_NE(one, load_text("version: 1\n", {}).hash);
  // The FNV-1a hash of an empty text is the constant with which the algorithm starts (the offset basis).
  EXPECT_EQ(load_text("", {}).hash, "cbf29ce48422");
}

TEST(Load, unreadable_file_is_reported_without_a_line_number) {
  const Loaded loaded = load_file("/nonexistent/reprise.yaml", {});
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].line, 0U);
  EXPECT_EQ(loaded.problems[0].column, 0U);
  EXPECT_EQ(to_line(loaded.problems[0], "f.yaml"),
            "f.yaml: error: cannot read the file: No such file or directory");
  EXPECT_FALSE(loaded.settings);
  EXPECT_EQ(loaded.hash, "");
  EXPECT_EQ(lines(load_file("/", {})), "f.yaml: error: cannot read the file: Is a directory\n");
  EXPECT_EQ(lines(load_file("/dev/zero", {})),
            "f.yaml: error: cannot read the file: it is not a regular file: name a file\n");
}

TEST(Load, pipe_is_rejected_without_waiting_for_a_writer) {
  const std::string pipe = testing::TempDir() + "reprise-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(lines(load_file(pipe, {})),
            "f.yaml: error: cannot read the file: it is a pipe: save its content in a regular file\n");
  EXPECT_NE(first_line("version: 1\nthreads: ${file:" + pipe + "}").find("it is a pipe"), std::string::npos);
  EXPECT_NE(first_line("version: 1\nthreads: ${file:/dev/zero}").find("not a regular file"),
            std::string::npos);
  ::unlink(pipe.c_str());
}

TEST(Load, ten_gigabyte_file_is_rejected_without_reading_all_of_it) {
  const std::string file = testing::TempDir() + "reprise-large-" + std::to_string(::getpid());
  std::ofstream(file) << "version: 1\n";
  std::filesystem::resize_file(file, 10'000'000'000);
  EXPECT_NE(lines(load_file(file, {})).find("1 MiB"), std::string::npos) << lines(load_file(file, {}));
  ::unlink(file.c_str());
}

TEST(Load, settings_and_hash_are_loaded_from_a_file) {
  const TemporaryFile file("version: 1\nthreads: 3\n");
  const Loaded loaded = load_file(file.path(), {});
  ASSERT_TRUE(loaded.settings) << lines(loaded);
  EXPECT_EQ(loaded.settings->threads, 3U);
  EXPECT_EQ(loaded.hash, load_text("version: 1\nthreads: 3\n", {}).hash);
}

TEST(Load, file_over_one_mebibyte_is_rejected) {
  std::string text = "version: 1\n#";
  text.append(1024 * 1024 - text.size(), 'x');
  EXPECT_TRUE(load_text(text, {}).settings);
  text.push_back('x');
  EXPECT_EQ(first_line(text), "f.yaml: error: the file is larger than 1 MiB");
  const TemporaryFile file(text);
  EXPECT_EQ(lines(load_file(file.path(), {})), "f.yaml: error: the file is larger than 1 MiB\n");
}

TEST(Load, file_nested_over_32_levels_is_rejected) {
  const auto nested = [](std::size_t depth) {
    return "version: " + std::string(depth - 1, '[') + std::string(depth - 1, ']');
  };
  EXPECT_NE(first_line(nested(32)).find("must be 1"), std::string::npos);
  EXPECT_NE(first_line(nested(33)).find("nesting is deeper than 32 levels"), std::string::npos);
}

// Found by fuzzing: the YAML parser's message contained the byte that marks the end of its input.
TEST(Load, error_for_malformed_yaml_contains_only_printable_characters) {
  EXPECT_EQ(first_line("a: \"b\\"),
            "f.yaml:1:4: error: this quotation mark is not closed: write another \" at the end of the value");
}

TEST(Load, number_of_reported_problems_is_limited) {
  std::string text = "version: 1\n";
  for (int i = 0; i < 5000; ++i) text.append("k").append(std::to_string(i)).append(": 1\n");
  const Loaded loaded = load_text(text, {});
  EXPECT_FALSE(loaded.settings);
  EXPECT_EQ(loaded.problems.size(), Report::most_problems);
}

TEST(Load, file_with_more_than_a_thousand_routes_is_rejected) {
  const auto routes = [](int count) {
    std::string text = "version: 1\nroutes:\n";
    for (int i = 0; i < count; ++i)
      text.append("  - {name: r" + std::to_string(i) + ", match: {host: h" + std::to_string(i) +
                  ".internal}}\n");
    return text;
  };
  EXPECT_EQ(load(routes(1000)).routes->size(), 1001U);
  EXPECT_NE(first_line(routes(1001)).find("at most 1000 routes"), std::string::npos);
}

TEST(Replacement, value_may_contain_several_variables_with_defaults) {
  const Environment variables = environment({{"HOST", "127.0.0.1"}, {"PORT", "4128"}, {"EMPTY", ""}});
  const Settings settings = load(
      "version: 1\nlisteners: [{bind: \"${env:HOST}:${env:PORT}\"}]\n"
      "admin: {bind: \"127.0.0.1:${env:NONE:-4129}\"}\nlog: {level: \"${env:EMPTY}debug\"}\nthreads: "
      "${env:N:-2}\n",
      variables);
  EXPECT_EQ(settings.listeners.front().bind.port, 4128);
  EXPECT_EQ(settings.admin.bind.port, 4129);
  EXPECT_EQ(settings.log.level, LogLevel::debug);
  EXPECT_EQ(settings.threads, 2U);
}

TEST(Replacement, replacement_is_not_expanded_again_and_can_be_escaped) {
  const Environment variables = environment({{"A", "${env:B}"}, {"B", "b"}});
  const Settings settings = load(
      "version: 1\nroutes:\n  - name: r\n    match: {headers: [\"X=${env:A}\", \"Y=$${env:B}\", "
      "\"Z=a$b\"]}\n",
      variables);
  const auto& headers = (*settings.routes)[0].match.headers;
  ASSERT_EQ(headers.size(), 3U);
  EXPECT_EQ(headers[0].value, "${env:B}");
  EXPECT_EQ(headers[1].value, "${env:B}");
  EXPECT_EQ(headers[2].value, "a$b");
  // The printed settings escape `${` in a value that a variable provided, so loading them does not expand the
  // value again.
  EXPECT_EQ(effective_yaml(load(effective_yaml(settings))), effective_yaml(settings));
}

TEST(Replacement, replacement_by_the_content_of_a_file_drops_the_final_line_break) {
  const TemporaryFile level("debug\r\n");
  EXPECT_EQ(load("version: 1\nlog: {level: \"${file:" + level.path() + "}\"}").log.level, LogLevel::debug);
  const TemporaryFile two("debug\n\n");
  EXPECT_NE(first_line("version: 1\nlog: {level: \"${file:" + two.path() + "}\"}").find("line break"),
            std::string::npos);
  const TemporaryFile large(std::string(64 * 1024 + 1, '1'));
  EXPECT_NE(first_line("version: 1\nthreads: ${file:" + large.path() + "}").find("larger than 64 KiB"),
            std::string::npos);
  EXPECT_NE(first_line("version: 1\nthreads: ${file:/}").find("cannot read"), std::string::npos);
}

TEST(Replacement, total_size_of_all_replacements_is_limited) {
  const TemporaryFile file(std::string(64 * 1024, 'x'));
  std::string text = "version: 1\nsecurity:\n  deny:\n";
  for (int i = 0; i < 40; ++i) text.append("    - ${file:" + file.path() + "}\n");
  const Loaded loaded = load_text(text, {});
  EXPECT_NE(lines(loaded).find("all replacements together are larger than 1 MiB"), std::string::npos);
}

TEST(ToLine, problem_is_printed_as_file_and_line_and_column_then_severity_then_path_and_message) {
  using Severity = Problem::Severity;
  EXPECT_EQ(to_line({Severity::error, 3, 7, "a.b", "is wrong"}, "f.yaml"),
            "f.yaml:3:7: error: a.b: is wrong");
  EXPECT_EQ(to_line({Severity::warning, 3, 7, "", "is odd"}, "f.yaml"), "f.yaml:3:7: warning: is odd");
  EXPECT_EQ(to_line({Severity::error, 0, 0, "", "gone"}, "f.yaml"), "f.yaml: error: gone");
}

}  // namespace
}  // namespace reprise::config::load_test
