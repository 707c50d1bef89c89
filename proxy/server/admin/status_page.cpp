#include "proxy/server/admin/status_page.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <stdexcept>

namespace reprise::server {
namespace {

// Returns a hash source (Content Security Policy Level 3, 2.3.1): base64 of the SHA-256 of the text between
// the tags.
std::string hash_source(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA256_DIGEST_LENGTH + 2) / 3) + 1> base64{};
  const int size = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return "'sha256-" + std::string(base64.begin(), base64.begin() + size) + "'";
}

void put(std::string& document, std::string_view place, std::string_view text) {
  const std::size_t at = document.find(place);
  if (at == std::string::npos) throw std::logic_error("the status page has no " + std::string(place));
  document.replace(at, place.size(), text);
}

}  // namespace

StatusPage make_status_page(const PageTexts& texts) {
  StatusPage page;
  page.text = texts.document;
  put(page.text, "<!-- style -->", "<style>" + std::string(texts.style) + "</style>");
  put(page.text, "<!-- script -->", "<script>" + std::string(texts.script) + "</script>");
  page.policy =
      "default-src 'none'; style-src " + hash_source(texts.style) + "; script-src " +
      hash_source(texts.script) +
      "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return page;
}

const StatusPage& status_page() {
  static const StatusPage page = make_status_page(page_texts());
  return page;
}

}  // namespace reprise::server
