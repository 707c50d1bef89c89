#include "proxy/server/admin/status_page.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace reprise::server {
namespace {

constexpr PageTexts small{"<html><!-- style -->b<!-- script --></html>", "p{}", "let a = 1;"};

TEST(StatusPage, page_inlines_style_and_script_and_its_policy_lists_their_hashes) {
  const StatusPage page = make_status_page(small);
  EXPECT_EQ(page.text, "<html><style>p{}</style>b<script>let a = 1;</script></html>");
  // `printf 'p{}' | openssl sha256 -binary | base64` prints the expected hash of the style. The same command
  // with the text of the script prints the other hash.
  EXPECT_EQ(
      page.policy,
      "default-src 'none'; style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='; "
      "script-src 'sha256-xY6QKfH9PRsQnLz56nj6MBwiK5oHg+im1Jkpdp1x/Ck='; connect-src 'self'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

TEST(StatusPage, page_template_without_a_style_or_script_placeholder_throws) {
  PageTexts broken = small;
  broken.document = "<html><!-- script --></html>";
  EXPECT_THROW(make_status_page(broken), std::logic_error);
  broken.document = "<html><!-- style --></html>";
  EXPECT_THROW(make_status_page(broken), std::logic_error);
}

TEST(StatusPage, shipped_page_loads_no_external_resources_and_never_sets_raw_html) {
  const std::string& text = status_page().text;
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http", "//cdn", "innerHTML",
                              "insertAdjacentHTML", "document.write", "eval(", " style=\"", " onclick=\""})
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  EXPECT_TRUE(text.starts_with("<!doctype html>"));
  EXPECT_LT(text.size(), 72U << 10);
}

}  // namespace
}  // namespace reprise::server
