#include "proxy/net/tls/tls_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "proxy/net/io/tls_error.hpp"

namespace reprise::net {
namespace {

constexpr std::string_view certificate_mark = "CERTIFICATE-----";
constexpr std::string_view key_mark = "PRIVATE KEY-----";

// Maximum number of bytes to read. A file that is not a certificate or key may be much larger.
constexpr std::streamsize most_bytes = 16 * 1024 * 1024;

std::string without(std::string_view what, std::string_view begin, std::string_view text) {
  std::string words = "it contains no ";
  words.append(what).append(": the file must be PEM, with a line -----BEGIN ").append(begin);
  if (text.empty()) return words + "; the file is empty";
  if (text.find("-----BEGIN ") == std::string_view::npos) return words;
  return words + (text.find(key_mark) != std::string_view::npos ? "; this file contains a private key"
                                                                : "; this file contains something else");
}

std::string trouble_in(std::string_view text, TlsFile kind, const std::string& certificate) {
  const auto has = [text](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (kind != TlsFile::key)
    return has(certificate_mark) ? "" : without("certificate", certificate_mark, text);
  if (!has(key_mark)) return without("private key", key_mark, text);
  if (has("ENCRYPTED"))
    return "the key is encrypted: write its passphrase in tls.key_passphrase, or remove the encryption "
           "(openssl pkey -in FILE -out NEW)";
  return "it does not belong to the certificate " + certificate +
         ": use the private key for which that certificate was issued";
}

}  // namespace

std::string trouble_with_kind(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0 || S_ISDIR(found.st_mode)) return {};
  if (S_ISFIFO(found.st_mode)) return "it is a pipe: save its content in a regular file";
  if (!S_ISREG(found.st_mode)) return "it is not a regular file";
  if (found.st_size > most_bytes) return "it is larger than 16 MiB";
  return {};
}

std::string trouble_with(const std::string& file, TlsFile kind, const std::string& certificate) {
  const std::string words = tls_words();
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return "it is a folder";
  if (std::string trouble = trouble_with_kind(file); !trouble.empty()) return trouble;
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::generic_category().message(errno == 0 ? EIO : errno);
  std::string text(static_cast<std::size_t>(most_bytes), '\0');
  stream.read(text.data(), most_bytes);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const std::string trouble = trouble_in(text, kind, certificate);
  return trouble.empty() ? words : trouble;
}

}  // namespace reprise::net
