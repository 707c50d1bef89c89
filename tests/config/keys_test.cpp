#include "config/keys/keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace reprise::config {
namespace {

TEST(KeyTable, key_paths_are_unique_and_follow_their_parent) {
  std::set<std::string_view> seen;
  for (const Key& key : all_keys()) {
    EXPECT_TRUE(seen.insert(key.path).second) << key.path;
    const std::size_t dot = key.path.rfind('.');
    if (dot == std::string_view::npos) continue;
    std::string_view parent = key.path.substr(0, dot);
    if (parent.ends_with("[]")) parent.remove_suffix(2);
    EXPECT_TRUE(seen.contains(parent)) << key.path << " comes before its parent, or has none";
  }
}

TEST(KeyTable, keys_with_a_range_have_both_bounds_and_keys_with_fixed_words_have_at_least_two) {
  for (const Key& key : all_keys()) {
    EXPECT_EQ(key.lowest.empty(), key.highest.empty()) << key.path;
    const bool choice = key.kind == Kind::word;
    EXPECT_TRUE(!choice || split_words(key.words).size() >= 2) << key.path;
  }
}

TEST(KeyTable, routes_and_policies_accept_the_keys_of_defaults) {
  EXPECT_EQ(find_key("routes[].retry.backoff.jitter"), find_key("defaults.retry.backoff.jitter"));
  EXPECT_EQ(find_key("policies.*.budget"), find_key("defaults.budget"));
  EXPECT_NE(find_key("routes[].match.host"), nullptr);
  EXPECT_EQ(find_key("policies.*.match"), nullptr);
  EXPECT_EQ(find_key("defaults.name"), nullptr);
  EXPECT_EQ(find_key("listeners.mode"), nullptr);
  EXPECT_EQ(keys_under("routes[]").size(), keys_under("defaults").size() + 3);
  EXPECT_EQ(keys_under("policies.*").size(), keys_under("defaults").size());
}

TEST(Nearest, nearest_word_is_within_a_small_edit_distance) {
  const std::vector<std::string_view> words{"connect", "tls", "reset", "timeout"};
  EXPECT_EQ(nearest("conect", words), "connect");
  EXPECT_EQ(nearest("tsl", words), "tls");
  EXPECT_EQ(nearest("time_out", words), "timeout");
  EXPECT_EQ(nearest("TimeOut", words), "timeout");
  EXPECT_EQ(nearest("banana", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(41, 't'), words), "");
}

TEST(LikelyKey, likely_key_is_searched_among_siblings_and_children_and_other_sections) {
  EXPECT_EQ(likely_key("defaults.retry", "backof"), "backoff");
  EXPECT_EQ(likely_key("routes[]", "max_attempts"), "retry.max_attempts");
  EXPECT_EQ(likely_key("routes[]", "retryOn"), "retry.on");
  EXPECT_EQ(likely_key("", "connect_ports"), "security.connect_ports");
  EXPECT_EQ(likely_key("", "zzzzzz"), "");
}

TEST(Expectation, expectation_text_states_the_allowed_values) {
  EXPECT_EQ(expectation(*find_key("threads")), "a whole number, from 1 to 64");
  EXPECT_EQ(expectation(*find_key("version")), "1");
  EXPECT_EQ(expectation(*find_key("log.path")), "full or route");
  EXPECT_EQ(expectation(*find_key("defaults.budget")), "a mapping, or off");
  EXPECT_EQ(expectation(*find_key("defaults.retry.deadline")),
            "a duration such as 250ms or 1m30s, from 1ms to 8760h, or unlimited");
}

}  // namespace
}  // namespace reprise::config
