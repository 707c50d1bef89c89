#include "proxy/tools/environment/client_environment.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/metadata_service.hpp"
#include "proxy/http/message/origin.hpp"

namespace reprise::tools {
namespace {

constexpr const char* php_folders = "PHP_INI_SCAN_DIR";
// The variables that name a PEM file with trusted certificates.
constexpr std::array trust_variables{"SSL_CERT_FILE",
                                     "CURL_CA_BUNDLE",
                                     "REQUESTS_CA_BUNDLE",
                                     "NODE_EXTRA_CA_CERTS",
                                     "GIT_SSL_CAINFO",
                                     "PIP_CERT",
                                     "AWS_CA_BUNDLE",
                                     "CARGO_HTTP_CAINFO",
                                     "HTTPLIB2_CA_CERTS",
                                     "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
                                     "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
                                     "DENO_CERT",
                                     "NIX_SSL_CERT_FILE",
                                     "BUNDLE_SSL_CA_CERT",
                                     "COMPOSER_CAFILE",
                                     "NPM_CONFIG_CAFILE",
                                     "PERL_LWP_SSL_CA_FILE"};

/// Returns the members of both lists in order, without duplicates.
std::vector<std::string> merged(const std::optional<std::string>& one,
                                const std::optional<std::string>& other) {
  std::vector<std::string> names;
  for (const auto& list : {one, other}) {
    std::string_view rest = list ? std::string_view(*list) : std::string_view();
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string name(http::ascii::trim(rest.substr(0, comma)));
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return names;
}

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : between).append(name);
  return text;
}

std::string java_proxy(const std::string& host, unsigned port) {
  const std::string number = std::to_string(port);
  return "-Dhttp.proxyHost=" + host + " -Dhttp.proxyPort=" + number + " -Dhttps.proxyHost=" + host +
         " -Dhttps.proxyPort=" + number + " -Dhttp.nonProxyHosts=";
}

/// Returns the Java options for the proxy. A domain such as `.example.com` becomes `*.example.com`, as Java
/// expects. The list of direct hosts is passed even if it is empty: without this option, Java would not use
/// the proxy for localhost.
std::string java_options(const std::string& host, unsigned port, std::vector<std::string> direct) {
  for (std::string& name : direct) {
    if (name.starts_with('.')) name.insert(0, "*");
  }
  return java_proxy(host, port) + joined(direct, "|");
}

std::string java_trust(const TrustFiles& trust) {
  return " -Djavax.net.ssl.trustStore=" + trust.truststore + " -Djavax.net.ssl.trustStoreType=PKCS12" +
         " -Djavax.net.ssl.trustStorePassword=" + trust.password;
}

/// Returns the Java options without those that java_options and java_trust added. The added options begin
/// with `proxy`, go on with a list of hosts, and may end with `trust`.
std::string without_ours(std::string options, const std::string& proxy, const std::string& trust) {
  for (std::size_t start = 0; (start = options.find(proxy)) != std::string::npos;) {
    std::size_t end = std::min(options.find(' ', start + proxy.size()), options.size());
    if (!trust.empty() && options.compare(end, trust.size(), trust) == 0) end += trust.size();
    // Also removes the blank that separates the removed options from the others.
    if (start > 0)
      --start;
    else if (end < options.size())
      ++end;
    options.erase(start, end - start);
  }
  return options;
}

/// Returns the text in a shell's single quotes. `quote` replaces each single quote in the text.
std::string shell_quoted(std::string_view text, std::string_view quote) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result.append(quote) : result.append(1, c);
  return result + "'";
}

std::string double_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

}  // namespace

Variables client_environment(const std::string& host, unsigned port, const Lookup& now,
                             const std::optional<TrustFiles>& trust) {
  const std::string url = "http://" + http::authority_text(host, static_cast<std::uint16_t>(port));
  std::vector<std::string> direct = merged(now("no_proxy"), now("NO_PROXY"));
  for (const std::string_view service : http::metadata_services) {
    if (std::find(direct.begin(), direct.end(), service) == direct.end()) direct.emplace_back(service);
  }
  Variables made;
  // all_proxy is not set, because clients would then also send FTP and other protocols to reprise, and these
  // requests would fail.
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ws_proxy", "WS_PROXY",
                           "wss_proxy", "WSS_PROXY"})
    made.emplace_back(name, url);
  for (const char* name : {"no_proxy", "NO_PROXY"}) made.emplace_back(name, joined(direct, ","));
  made.emplace_back("NODE_USE_ENV_PROXY", "1");
  const std::string before = now("JAVA_TOOL_OPTIONS").value_or("");
  made.emplace_back("JAVA_TOOL_OPTIONS", before + (before.empty() ? "" : " ") +
                                             java_options(host, port, direct) +
                                             (trust ? java_trust(*trust) : std::string()));
  if (!trust) return made;
  for (const char* const name : trust_variables) made.emplace_back(name, trust->bundle);
  // If PHP_INI_SCAN_DIR was not set, its new value begins with a colon. PHP then reads its default folder
  // first, and `php_folder` after that.
  if (!trust->php_folder.empty())
    made.emplace_back(php_folders, now(php_folders).value_or("") + ":" + trust->php_folder);
  return made;
}

Variables named_trust(const Lookup& now) {
  Variables named;
  const std::string standard = now("SSL_CERT_FILE").value_or("");
  for (const char* const name : trust_variables) {
    std::string place = now(name).value_or("");
    if (!place.empty() && place != standard) named.emplace_back(name, std::move(place));
  }
  return named;
}

Restored restored_environment(const std::string& host, unsigned port, const Lookup& now,
                              const std::optional<TrustFiles>& trust) {
  std::vector<std::string> direct = merged(now("no_proxy"), now("NO_PROXY"));
  std::erase_if(direct, [](const std::string& name) {
    const auto& services = http::metadata_services;
    return std::find(services.begin(), services.end(), name) != services.end();
  });
  const std::string options = now("JAVA_TOOL_OPTIONS").value_or("");
  const std::string others =
      without_ours(options, java_proxy(host, port), trust ? java_trust(*trust) : std::string());
  Restored restored;
  for (const auto& [name, value] : client_environment(host, port, now, trust)) {
    std::string kept;
    if (http::ascii::same(name, "no_proxy")) kept = joined(direct, ",");
    if (name == "JAVA_TOOL_OPTIONS") {
      if (others == options) continue;
      kept = others;
    }
    restored.emplace_back(name, kept.empty() ? std::nullopt : std::optional(kept));
  }
  return restored;
}

namespace {

std::string removed_in(std::string_view format, const std::string& name) {
  if (format == "fish") return "set -eg " + name + ";\n";
  if (format == "dotenv") return name + "=\n";
  if (format == "systemd") return "UnsetEnvironment=" + name + "\n";
  if (format == "kubernetes") return "- {name: " + name + ", $patch: delete}\n";
  return "unset " + name + "\n";
}

}  // namespace

std::string restoring_text(std::string_view format, const Restored& restored) {
  const std::string head = written_as(format, {});
  std::string text = head;
  for (const auto& [name, value] : restored)
    text += value ? written_as(format, {{name, *value}}).substr(head.size()) : removed_in(format, name);
  return text;
}

std::vector<std::string_view> environment_formats() {
  return {"sh", "fish", "dotenv", "systemd", "kubernetes"};
}

std::string written_as(std::string_view format, const Variables& variables) {
  using http::ascii::append;
  // In a drop-in file, systemd ignores lines that are outside a section.
  std::string text = format == "systemd" ? "[Service]\n" : "";
  for (const auto& [name, value] : variables) {
    if (format == "fish") {
      append(text, "set -gx ", name, " ", shell_quoted(value, "\\'"), ";\n");
    } else if (format == "dotenv") {
      append(text, name, "=", double_quoted(value), "\n");
    } else if (format == "systemd") {
      append(text, "Environment=\"", name, "=", double_quoted(value).substr(1), "\n");
    } else if (format == "kubernetes") {
      append(text, "- {name: ", name, ", value: ", double_quoted(value), "}\n");
    } else {
      append(text, "export ", name, "=", shell_quoted(value, "'\\''"), "\n");
    }
  }
  return text;
}

}  // namespace reprise::tools
