// Tests that the match index finds the same match as a linear search from first to last.
#include "proxy/policy/match/match_index.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/chance.hpp"

namespace reprise::policy::match_index_test {
namespace {

std::size_t walk(const std::vector<Match>& matches, const RequestView& request) {
  std::size_t number = 0;
  while (number < matches.size() && !matches[number].matches(request)) ++number;
  return number;
}

/// A list of matches and its index, as in a route table. Counts the matches that a lookup checks.
class Indexed {
 public:
  explicit Indexed(const std::vector<Match>& matches) : matches_(matches) {
    for (const Match& match : matches) index_.add(match);
  }
  std::size_t find(const RequestView& request) {
    return index_.find(request, [this](std::size_t number) -> const Match& {
      ++asked_;
      return matches_[number];
    });
  }
  std::size_t asked() const { return asked_; }

 private:
  const std::vector<Match>& matches_;
  MatchIndex index_;
  std::size_t asked_ = 0;
};

std::size_t find(const std::vector<Match>& matches, const RequestView& request) {
  return Indexed(matches).find(request);
}

Match match_of(std::string host, std::string_view path) {
  Match match;
  match.host.text = std::move(host);
  match.path = *PathPattern::parse(path);
  return match;
}

RequestView get(std::string_view host, std::string_view path) { return {"GET", host, 80, path, "", nullptr}; }

TEST(MatchIndex, empty_index_finds_nothing) { EXPECT_EQ(find({}, get("a.example", "/")), 0U); }

TEST(MatchIndex, first_added_match_wins_for_hosts_and_paths_alike) {
  const std::vector<Match> matches{match_of("*.example", "/b/{x}"), match_of("a.example", "/**"),
                                   match_of("", "/b/c"), match_of("A.example", "/b/c")};
  EXPECT_EQ(find(matches, get("A.EXAMPLE.", "/b/c")), 0U);
  EXPECT_EQ(find(matches, get("a.example", "/c")), 1U);
  EXPECT_EQ(find(matches, get("b", "/b/c")), 2U);
  EXPECT_EQ(find(matches, get("b", "/b/")), 4U);
}

TEST(MatchIndex, method_and_port_are_checked_too) {
  std::vector<Match> matches{match_of("", "/v1/**"), match_of("", "/v1/**"), match_of("", "/v1/**")};
  matches[0].methods = {"PUT"};
  matches[1].port = 81;
  EXPECT_EQ(find(matches, get("h", "/v1/a")), 2U);
  EXPECT_EQ(find(matches, {"GET", "h", 81, "/v1/a", "", nullptr}), 1U);
  EXPECT_EQ(find(matches, {"PUT", "h", 81, "/v1/a", "", nullptr}), 0U);
}

TEST(MatchIndex, host_in_a_list_is_found_by_name_or_suffix) {
  std::vector<Match> matches{match_of("", "/a"), match_of("*.b.example", "/a")};
  matches[0].hosts = {{"one"}, {"*.example"}, {"one"}};
  EXPECT_EQ(find(matches, get("one", "/a")), 0U);
  EXPECT_EQ(find(matches, get("x.b.example", "/a")), 0U);
  EXPECT_EQ(find(matches, get(".example", "/a")), 2U) << "a label stands before the suffix";
  EXPECT_EQ(find(matches, get("two", "/a")), 2U);
}

TEST(MatchIndex, host_suffixes_are_found_without_any_full_host_name) {
  const std::vector<Match> matches{match_of("*.b.example", "/a"), match_of("*.example", "/a")};
  EXPECT_EQ(find(matches, get("x.b.example", "/a")), 0U);
  EXPECT_EQ(find(matches, get("b.example", "/a")), 1U);
  EXPECT_EQ(find(matches, get("example", "/a")), 2U);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : chance_(seed) {}

  std::vector<Match> matches(std::size_t number) {
    std::vector<Match> drawn;
    for (std::size_t i = 0; i < number; ++i) drawn.push_back(match());
    return drawn;
  }
  std::string host() { return text({"a", "b", "A.b", "a.b", "a.b.c", "b.c", ".c", "c.", "", ".", "a.b.c."}); }
  std::string path() {
    if (chance_.below(20) == 0) return text({"", "*", "a", "/", "//", "/a/", "/a//b"});
    std::string path;
    for (auto left = 1 + chance_.below(4); left > 0; --left) path += text({"/a", "/b", "/ab", "/c", "/"});
    return path;
  }

 private:
  template <std::size_t size>
  std::string text(const char* const (&choices)[size]) {
    return choices[chance_.below(size)];
  }
  Match match() {
    Match match;
    if (chance_.below(3) != 0) match.host.text = text({"a", "b", "a.b", "*.b", "*.c", "*.b.c", "c"});
    if (chance_.below(4) == 0) match.hosts = {{text({"a", "*.c"})}, {text({"b.c", "*.b"})}};
    std::string pattern;
    for (auto left = 1 + chance_.below(3); left > 0; --left)
      pattern += text({"/a", "/b", "/{x}", "/ab", "/"});
    if (chance_.below(3) == 0) pattern += "/**";
    match.path = *PathPattern::parse(pattern);
    if (chance_.below(2) == 0) match.methods = {"PUT"};
    return match;
  }

  play::Chance chance_;
};

TEST(MatchIndex, index_finds_the_same_match_as_a_linear_search) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const std::vector<Match> matches = draw.matches(1 + seed * 5);
    Indexed index(matches);
    for (int i = 0; i < 100; ++i) {
      const std::string host = draw.host();
      const std::string path = draw.path();
      const RequestView request = get(host, path);
      const std::size_t wanted = walk(matches, request);
      ASSERT_EQ(index.find(request), wanted) << "seed " << seed << " host " << host << " path " << path;
      found += wanted < matches.size() ? 1 : 0;
    }
  }
  EXPECT_GT(found, 1000U) << "most find one";
}

// The purpose of the index: a lookup checks few of a thousand matches.
TEST(MatchIndex, index_checks_few_of_a_thousand_matches) {
  std::vector<Match> matches;
  for (int i = 0; i < 500; ++i) {
    matches.push_back(match_of("host-" + std::to_string(i) + ".example", "/**"));
    matches.push_back(match_of("", "/v1/kind-" + std::to_string(i) + "/{id}"));
  }
  Indexed index(matches);
  EXPECT_EQ(index.find(get("host-499.example", "/v2")), 998U);
  EXPECT_EQ(index.find(get("other.example", "/v1/kind-499/7")), 999U);
  EXPECT_EQ(index.find(get("other.example", "/v1/kind-500/7")), 1000U);
  EXPECT_EQ(index.asked(), 2U);
}

}  // namespace
}  // namespace reprise::policy::match_index_test
