// Tests the locale-independent letter functions: only ASCII letters have a case, and other bytes are
// unchanged.
#include "proxy/policy/match/ascii.hpp"

#include <gtest/gtest.h>

namespace reprise::policy {
namespace {

TEST(Ascii, only_ascii_letters_are_lowercased) {
  EXPECT_EQ(lower("API.Example-AZ_09"), "api.example-az_09");
  EXPECT_EQ(lower("@[`{"), "@[`{") << "the neighbours of the letters";
  EXPECT_EQ(lower("\xc4\xd6"), "\xc4\xd6") << "no letters here, whatever the locale says";
  EXPECT_EQ(lower(""), "");
}

TEST(Ascii, texts_that_differ_only_in_ascii_case_are_equal) {
  EXPECT_TRUE(equals_ignoring_case("Retry-After", "rETRY-aFTER"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("Retry-After", "Retry-After "));
  EXPECT_FALSE(equals_ignoring_case("a[", "A{")) << "32 apart, and no letters";
  EXPECT_FALSE(equals_ignoring_case("\xc4", "\xe4"));
}

}  // namespace
}  // namespace reprise::policy
