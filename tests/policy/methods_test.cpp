// Tests the registered methods: each is known by its own row, and a safe one is idempotent.
#include "proxy/policy/match/methods.hpp"

#include <gtest/gtest.h>

#include <set>

namespace reprise::policy {
namespace {

TEST(RegisteredMethods, every_row_agrees_with_the_questions_about_its_method) {
  std::set<std::string_view> names;
  for (const RegisteredMethod& method : registered_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_EQ(is_idempotent_method(method.name), method.idempotent) << method.name;
    EXPECT_EQ(is_safe_method(method.name), method.safe) << method.name;
    EXPECT_TRUE(method.idempotent || !method.safe) << method.name;
  }
  EXPECT_TRUE(names.contains("GET") && names.contains("PROPFIND"));
  EXPECT_FALSE(is_idempotent_method("get")) << "names of methods are case-sensitive";
}

}  // namespace
}  // namespace reprise::policy
