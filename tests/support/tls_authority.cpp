#include "tests/support/tls_authority.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

namespace reprise::play {
namespace {

constexpr long day = 24 * 60 * 60;

template <class Part, void (*free)(Part*)>
struct FreeBy {
  void operator()(Part* part) const { free(part); }
};
using Bytes = std::unique_ptr<BIO, decltype([](BIO* bytes) { BIO_free(bytes); })>;
using List = std::unique_ptr<X509_CRL, FreeBy<X509_CRL, X509_CRL_free>>;
using Responses = std::unique_ptr<OCSP_BASICRESP, FreeBy<OCSP_BASICRESP, OCSP_BASICRESP_free>>;
using Response = std::unique_ptr<OCSP_RESPONSE, FreeBy<OCSP_RESPONSE, OCSP_RESPONSE_free>>;
using Number = std::unique_ptr<ASN1_INTEGER, FreeBy<ASN1_INTEGER, ASN1_INTEGER_free>>;
using Moment = std::unique_ptr<ASN1_TIME, FreeBy<ASN1_TIME, ASN1_TIME_free>>;

Moment from_now(long seconds) { return Moment(ASN1_TIME_adj(nullptr, std::time(nullptr), 0, seconds)); }
Moment generalized(long seconds) {
  return Moment(ASN1_GENERALIZEDTIME_adj(nullptr, std::time(nullptr), 0, seconds));
}

Number number(long value) {
  Number made(ASN1_INTEGER_new());
  ASN1_INTEGER_set(made.get(), value);
  return made;
}

std::string text_of(const Bytes& bytes) {
  char* text = nullptr;
  const long length = BIO_get_mem_data(bytes.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

PrivateKey make_key() {
  std::string curve("P-256");  // does not use EVP_EC_gen(), which casts a const away
  return PrivateKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data()));
}

void add_extension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void set_name(X509_NAME* name, std::string_view text) {
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(text.data()),
                             static_cast<int>(text.size()), -1, 0);
}

/// Makes an unsigned certificate.
Certificate make_certificate(EVP_PKEY* key, std::string_view name, long serial) {
  Certificate made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -day);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), day);
  X509_set_pubkey(made.get(), key);
  set_name(X509_get_subject_name(made.get()), name);
  return made;
}

}  // namespace

void FreeTlsParts::operator()(X509* certificate) const { X509_free(certificate); }
void FreeTlsParts::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

TlsAuthority::TlsAuthority(std::string_view name) { make(name, *this, 1); }

TlsAuthority::TlsAuthority(std::string_view name, const TlsAuthority& issuer, long serial) {
  make(name, issuer, serial);
}

void TlsAuthority::make(std::string_view name, const TlsAuthority& issuer, long serial) {
  self_.key = make_key();
  self_.certificate = make_certificate(self_.key.get(), name, serial);
  X509_set_issuer_name(certificate(), X509_get_subject_name(issuer.certificate()));
  add_extension(certificate(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate(), NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_sign(certificate(), issuer.self_.key.get(), EVP_sha256());
}

TlsIdentity TlsAuthority::issue(long serial, const char* usage) const {
  TlsIdentity made;
  made.key = make_key();
  made.certificate = make_certificate(made.key.get(), "test" + std::to_string(serial), serial);
  X509_set_issuer_name(made.certificate.get(), X509_get_subject_name(certificate()));
  add_extension(made.certificate.get(), NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  add_extension(made.certificate.get(), NID_ext_key_usage, usage);
  X509_sign(made.certificate.get(), self_.key.get(), EVP_sha256());
  return made;
}

std::string TlsAuthority::response(const std::vector<OcspResponse>& responses,
                                   const TlsIdentity* responder) const {
  const Responses all(OCSP_BASICRESP_new());
  for (const OcspResponse& response : responses) {
    const Moment now = generalized(0);
    const Moment since = generalized(response.timely.since);
    const Moment until = generalized(response.timely.until);
    OCSP_CERTID* const name = OCSP_cert_id_new(
        response.hash == nullptr ? EVP_sha1() : response.hash, X509_get_subject_name(certificate()),
        X509_get0_pubkey_bitstr(certificate()), number(response.serial).get());
    OCSP_basic_add1_status(all.get(), name, response.status, OCSP_REVOKED_STATUS_NOSTATUS, now.get(),
                           since.get(), until.get());
    OCSP_CERTID_free(name);
  }
  const TlsIdentity& signer = responder == nullptr ? self_ : *responder;
  OCSP_basic_sign(all.get(), signer.certificate.get(), signer.key.get(), EVP_sha256(), nullptr, 0);
  const Response whole(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, all.get()));
  std::string text(static_cast<std::size_t>(i2d_OCSP_RESPONSE(whole.get(), nullptr)), '\0');
  auto* out = reinterpret_cast<unsigned char*>(text.data());
  i2d_OCSP_RESPONSE(whole.get(), &out);
  return text;
}

std::string TlsAuthority::list(const std::vector<long>& serials, Timely timely) const {
  const List made(X509_CRL_new());
  X509_CRL_set_version(made.get(), 1);
  X509_CRL_set_issuer_name(made.get(), X509_get_subject_name(certificate()));
  X509_CRL_set1_lastUpdate(made.get(), from_now(timely.since).get());
  X509_CRL_set1_nextUpdate(made.get(), from_now(timely.until).get());
  for (const long serial : serials) {
    X509_REVOKED* const revoked = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(revoked, number(serial).get());
    X509_REVOKED_set_revocationDate(revoked, from_now(timely.since).get());
    X509_CRL_add0_revoked(made.get(), revoked);
  }
  X509_CRL_sort(made.get());
  X509_CRL_sign(made.get(), self_.key.get(), EVP_sha256());
  const Bytes bytes(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(bytes.get(), made.get());
  return text_of(bytes);
}

std::string TlsAuthority::pem() const {
  const Bytes bytes(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bytes.get(), certificate());
  return text_of(bytes);
}

}  // namespace reprise::play
