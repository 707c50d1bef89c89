// The status page: one embedded document and its Content-Security-Policy.
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// The texts that the build embeds from the files of proxy/server/admin/page.
struct PageTexts {
  std::string_view document;  ///< contains the markers `<!-- style -->` and `<!-- script -->`
  std::string_view style;
  std::string_view script;
};
PageTexts page_texts();

struct StatusPage {
  std::string text;  ///< HTML in UTF-8, including style and script
  /// Content-Security-Policy. Allows the page's own style and script, and requests to the page's origin.
  std::string policy;
};

/// Puts the style and the script in the place of their markers. Throws std::logic_error if a marker is
/// missing.
StatusPage make_status_page(const PageTexts&);
/// Returns the shipped page; made once.
const StatusPage& status_page();

}  // namespace reprise::server
