#include "config/keys/synonyms.hpp"

#include <gtest/gtest.h>

#include <set>

#include "config/keys/keys.hpp"
#include "config/keys/synonym_table.hpp"

namespace reprise::config {
namespace {

TEST(Synonyms, each_synonym_refers_to_an_existing_key_and_is_not_a_key_itself) {
  std::set<std::string_view> words;
  for (const Synonym& synonym : synonym_table) {
    EXPECT_NE(find_key(synonym.path), nullptr) << synonym.path;
    EXPECT_EQ(folded(synonym.word), synonym.word) << "what is looked up is folded";
    EXPECT_TRUE(words.insert(synonym.word).second) << synonym.word << " is there twice";
    EXPECT_EQ(find_key(synonym.word), nullptr) << synonym.word;
  }
}

TEST(Synonyms, suggested_key_is_written_relative_to_the_section_of_the_mistake) {
  EXPECT_EQ(synonym("defaults.retry", "retries"), "max_attempts? it includes the first attempt");
  EXPECT_EQ(synonym("routes[]", "maxRetries"), "retry.max_attempts? it includes the first attempt");
  EXPECT_EQ(synonym("routes[].retry", "max-retries"), "max_attempts? it includes the first attempt");
  EXPECT_EQ(synonym("", "attempts"), "defaults.retry.max_attempts?");
  EXPECT_EQ(synonym("log", "log_level"), "level?");
  EXPECT_EQ(synonym("listeners[]", "port"), "bind?");
  EXPECT_EQ(synonym("policies.*", "timeout").substr(0, 22), "retry.attempt_timeout?");
  EXPECT_EQ(synonym("", "zzz"), "");
}

}  // namespace
}  // namespace reprise::config
