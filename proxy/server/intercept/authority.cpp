#include "proxy/server/intercept/authority.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "proxy/net/io/tls_error.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::server {
namespace {

// A certificate is valid from one hour before its creation, because a client's clock may be slow.
constexpr std::int64_t backdated = 3600;
constexpr std::size_t longest_common_name = 64;
constexpr std::size_t longest_name = 253;

[[noreturn]] void fail(std::string_view what) {
  throw std::runtime_error(std::string(what) + ": " + net::tls_words());
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX about;
  X509V3_set_ctx(&about, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &about, kind, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  if (!added) fail("a certificate cannot be made");
}

void add_name(X509_NAME* name, const char* kind, const std::string& text) {
  X509_NAME_add_entry_by_txt(name, kind, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                             static_cast<int>(text.size()), -1, 0);
}

// Sets serial, times and key. The serial is positive and has at most 127 bits (RFC 5280 4.1.2.2).
Certificate begin_certificate(EVP_PKEY* key, std::int64_t since, std::int64_t until) {
  Certificate made(X509_new());
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> serial(BN_new(), BN_free);
  auto zero = time_t{0};
  const bool fits = made != nullptr && serial != nullptr &&
                    X509_set_version(made.get(), X509_VERSION_3) == 1 &&
                    BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made.get())) != nullptr &&
                    X509_time_adj_ex(X509_getm_notBefore(made.get()), 0, since, &zero) != nullptr &&
                    X509_time_adj_ex(X509_getm_notAfter(made.get()), 0, until, &zero) != nullptr &&
                    X509_set_pubkey(made.get(), key) == 1;
  if (!fits) fail("a certificate cannot be made");
  return made;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  int days = 0;
  int seconds = 0;
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> epoch(ASN1_TIME_set(nullptr, 0),
                                                                    ASN1_TIME_free);
  if (ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) return 0;
  return std::int64_t{days} * 24 * 3600 + seconds;
}

// Returns `*.x` as `.x`, and other hosts unchanged.
std::string constraint_of(const policy::HostPattern& host) {
  return host.text.starts_with("*.") ? host.text.substr(1) : host.text;
}

struct FreeConstraints {
  void operator()(NAME_CONSTRAINTS* constraints) const { NAME_CONSTRAINTS_free(constraints); }
};
using Constraints = std::unique_ptr<NAME_CONSTRAINTS, FreeConstraints>;

// Returns the name constraints of the certificate. Null if there are none, or if they are not critical,
// because clients may then ignore them.
Constraints constraints_of(X509* certificate) {
  int critical = 0;
  Constraints found(static_cast<NAME_CONSTRAINTS*>(
      X509_get_ext_d2i(certificate, NID_name_constraints, &critical, nullptr)));
  return critical == 1 ? std::move(found) : nullptr;
}

std::string_view text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// Returns the permitted DNS names; empty if anything else is permitted too.
std::vector<std::string> permitted_names(const NAME_CONSTRAINTS& constraints) {
  std::vector<std::string> names;
  for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints.permittedSubtrees); ++i) {
    const GENERAL_NAME* const base = sk_GENERAL_SUBTREE_value(constraints.permittedSubtrees, i)->base;
    if (base->type != GEN_DNS || text_of(base->d.dNSName).empty()) return {};
    names.emplace_back(text_of(base->d.dNSName));
  }
  return names;
}

// Returns true if all IP addresses of one family are excluded: an entry has an address and a mask that are
// all zero. `bytes` is the length of address and mask together, which differs between the families.
bool excludes_all(const NAME_CONSTRAINTS& constraints, std::size_t bytes) {
  for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints.excludedSubtrees); ++i) {
    const GENERAL_NAME* const base = sk_GENERAL_SUBTREE_value(constraints.excludedSubtrees, i)->base;
    if (base->type == GEN_IPADD && text_of(base->d.iPAddress) == std::string(bytes, '\0')) return true;
  }
  return false;
}

bool permits(const std::string& name, const policy::HostPattern& host) {
  const std::string wanted = constraint_of(host);
  if (policy::equals_ignoring_case(name, wanted)) return true;
  const std::string suffix = name.starts_with('.') ? name : "." + name;
  return wanted.size() > suffix.size() &&
         policy::equals_ignoring_case(std::string_view(wanted).substr(wanted.size() - suffix.size()), suffix);
}

bool is_host_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), is_letter) &&
         name.front() != '.' && name.back() != '.' && name.find("..") == std::string_view::npos;
}

}  // namespace

void FreeCertificate::operator()(X509* certificate) const { X509_free(certificate); }
void FreeCertificate::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

Authority::Authority(Certificate certificate, PrivateKey key)
    : certificate_(std::move(certificate)), key_(std::move(key)), leaf_key_(make_key()) {}

PrivateKey Authority::make_key() {
  PrivateKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  if (key == nullptr) fail("a private key cannot be made");
  return key;
}

Certificate Authority::certify(EVP_PKEY* key, const std::vector<policy::HostPattern>& hosts,
                               std::int64_t now) {
  Certificate made = begin_certificate(key, now - backdated, now + lifetime);
  X509* const certificate = made.get();
  X509_NAME* const name = X509_get_subject_name(certificate);
  add_name(name, "O", "reprise");
  // The certificate's name lists the hosts, so that a person sees them in a list of trusted authorities.
  std::string shown_name = "reprise for " + hosts.front().text;
  if (hosts.size() > 1) shown_name.append(" and ").append(std::to_string(hosts.size() - 1)).append(" more");
  add_name(name, "CN", shown_name.substr(0, longest_common_name));
  X509_set_issuer_name(certificate, name);
  std::string permitted = "critical";
  for (const policy::HostPattern& host : hosts)
    permitted.append(",permitted;DNS:").append(constraint_of(host));
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  add_extension(certificate, certificate, NID_name_constraints,
                permitted + ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0");
  if (X509_sign(certificate, key, EVP_sha256()) == 0) fail("a certificate cannot be signed");
  return made;
}

std::string Authority::certificate_text() const {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  if (memory == nullptr || PEM_write_bio_X509(memory.get(), certificate()) != 1) fail("no memory");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::int64_t Authority::expires() const { return seconds_of(X509_get0_notAfter(certificate())); }

std::vector<std::string> Authority::permitted() const {
  const Constraints constraints = constraints_of(certificate());
  if (constraints == nullptr) return {};
  std::vector<std::string> names = permitted_names(*constraints);
  for (std::string& name : names) {
    if (name.starts_with('.')) name.insert(0, "*");
  }
  return names;
}

std::string Authority::trouble(std::int64_t now) const {
  if (X509_check_ca(certificate()) != 1) return "is not a CA certificate (CA:TRUE)";
  if (expires() <= now) return "has expired";
  if (seconds_of(X509_get0_notBefore(certificate())) > now) return "is not valid yet";
  const Constraints constraints = constraints_of(certificate());
  constexpr std::size_t ipv4 = 8;
  constexpr std::size_t ipv6 = 32;
  if (constraints == nullptr || permitted_names(*constraints).empty())
    return "has no critical nameConstraints that permit only host names: an application that trusts it would "
           "trust it for every host";
  if (!excludes_all(*constraints, ipv4) || !excludes_all(*constraints, ipv6))
    return "does not exclude IP addresses (0.0.0.0/0 and ::/0): an application that trusts it would trust it "
           "for every IP address";
  return {};
}

std::string Authority::first_outside(const std::vector<policy::HostPattern>& hosts) const {
  const Constraints constraints = constraints_of(certificate());
  const std::vector<std::string> names =
      constraints == nullptr ? std::vector<std::string>() : permitted_names(*constraints);
  for (const policy::HostPattern& host : hosts) {
    const bool inside =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return permits(name, host); });
    if (!inside) return host.text;
  }
  return {};
}

Leaf Authority::issue(const std::string& name, std::int64_t now) const {
  if (!is_host_name(name))
    throw std::runtime_error("cannot issue a certificate: the name is not a host name");
  const std::int64_t until = std::min(now + leaf_lifetime, expires());
  Certificate made = begin_certificate(leaf_key_.get(), now - backdated, until);
  X509* const certificate = made.get();
  X509_NAME* const subject = X509_get_subject_name(certificate);
  add_name(subject, "O", "reprise");
  if (name.size() <= longest_common_name) add_name(subject, "CN", name);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
  add_extension(certificate, certificate_.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate, certificate_.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(certificate, certificate_.get(), NID_ext_key_usage, "serverAuth");
  add_extension(certificate, certificate_.get(), NID_subject_key_identifier, "hash");
  add_extension(certificate, certificate_.get(), NID_authority_key_identifier, "keyid:always");
  add_extension(certificate, certificate_.get(), NID_subject_alt_name, "DNS:" + name);
  if (X509_sign(certificate, key_.get(), EVP_sha256()) == 0) fail("a certificate cannot be signed");
  // A leaf is renewed after 6/7 of its lifetime: a day before its end if the lifetime is seven days. No
  // client then gets a certificate that is about to expire.
  const std::int64_t renew_at = now + std::max<std::int64_t>((until - now) * 6 / 7, 1);
  return {std::make_shared<const net::TlsServer>(certificate, certificate_.get(), leaf_key_.get()),
          now - backdated, renew_at};
}

}  // namespace reprise::server
