#include "proxy/net/tls/tls_revocation.hpp"

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <memory>

namespace reprise::net {
namespace {

/// Tolerance for the difference between two hosts' clocks.
constexpr long clock_skew_seconds = 300;

struct FreeOcsp {
  void operator()(OCSP_RESPONSE* response) const { OCSP_RESPONSE_free(response); }
  void operator()(OCSP_BASICRESP* responses) const { OCSP_BASICRESP_free(responses); }
  void operator()(OCSP_CERTID* name) const { OCSP_CERTID_free(name); }
};
using Response = std::unique_ptr<OCSP_RESPONSE, FreeOcsp>;
using Responses = std::unique_ptr<OCSP_BASICRESP, FreeOcsp>;
using CertificateName = std::unique_ptr<OCSP_CERTID, FreeOcsp>;

/// Restores OpenSSL's error queue, so that errors of the revocation checks do not look like failures of the
/// connection.
class RestoredErrorQueue {
 public:
  RestoredErrorQueue() { ERR_set_mark(); }
  ~RestoredErrorQueue() { ERR_pop_to_mark(); }
  RestoredErrorQueue(const RestoredErrorQueue&) = delete;
  RestoredErrorQueue& operator=(const RestoredErrorQueue&) = delete;
};

// `item_of` and `size_of` replace OpenSSL's macros, which contain old-style casts.
template <class Item, class Stack>
Item* item_of(Stack* stack, int index) {
  return static_cast<Item*>(OPENSSL_sk_value(reinterpret_cast<OPENSSL_STACK*>(stack), index));
}
template <class Stack>
int size_of(Stack* stack) {
  return OPENSSL_sk_num(reinterpret_cast<OPENSSL_STACK*>(stack));
}

int allow_missing_crl(int verified, X509_STORE_CTX* verification) {
  if (verified == 1 || X509_STORE_CTX_get_error(verification) != X509_V_ERR_UNABLE_TO_GET_CRL)
    return verified;
  X509_STORE_CTX_set_error(verification,
                           X509_V_OK);  // a later failure must not be reported as this one
  return 1;
}

/// Returns true if the response names this certificate. A response identifies the certificate's issuer by
/// hashes, and the responder chooses the hash function.
bool is_about(const OCSP_CERTID* named, X509* certificate, X509* issuer) {
  ASN1_OBJECT* algorithm = nullptr;
  auto* const name = const_cast<OCSP_CERTID*>(named);
  if (OCSP_id_get0_info(nullptr, &algorithm, nullptr, nullptr, name) != 1) return false;
  const EVP_MD* const hash = EVP_get_digestbyobj(algorithm);
  if (hash == nullptr) return false;
  const CertificateName own(OCSP_cert_to_id(hash, certificate, issuer));
  return own != nullptr && OCSP_id_cmp(own.get(), name) == 0;
}

bool is_revoked_by(OCSP_SINGLERESP* response) {
  ASN1_GENERALIZEDTIME* since = nullptr;
  ASN1_GENERALIZEDTIME* until = nullptr;
  const int status = OCSP_single_get0_status(response, nullptr, nullptr, &since, &until);
  return status == V_OCSP_CERTSTATUS_REVOKED &&
         OCSP_check_validity(since, until, clock_skew_seconds, -1) == 1;
}

// OpenSSL's callback for a stapled response. Returns 0, which ends the handshake, if the certificate is
// revoked; else 1.
int judge_staple(SSL* connection, void*) {
  unsigned char* text = nullptr;
  const long length = SSL_get_tlsext_status_ocsp_resp(connection, &text);
  if (length <= 0) return 1;
  const std::span<const unsigned char> response(text, static_cast<std::size_t>(length));
  X509_STORE* const trusted = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(connection));
  if (!reports_revoked(response, SSL_get0_verified_chain(connection), trusted)) return 1;
  SSL_set_verify_result(connection, X509_V_ERR_CERT_REVOKED);
  return 0;
}

}  // namespace

bool reports_revoked(std::span<const unsigned char> response, stack_st_X509* chain, X509_STORE* trusted) {
  const RestoredErrorQueue quiet;
  if (chain == nullptr || size_of(chain) < 2) return false;  // self-signed: no issuer could revoke it
  const unsigned char* text = response.data();
  const Response whole(d2i_OCSP_RESPONSE(nullptr, &text, static_cast<long>(response.size())));
  if (whole == nullptr) return false;
  const Responses responses(OCSP_response_get1_basic(whole.get()));
  if (responses == nullptr || OCSP_basic_verify(responses.get(), chain, trusted, 0) != 1) return false;
  for (int i = 0; i < OCSP_resp_count(responses.get()); ++i) {
    OCSP_SINGLERESP* const one = OCSP_resp_get0(responses.get(), i);
    if (is_about(OCSP_SINGLERESP_get0_id(one), item_of<X509>(chain, 0), item_of<X509>(chain, 1)) &&
        is_revoked_by(one)) {
      return true;
    }
  }
  return false;
}

bool holds(SSL_CTX* settings, int kind) {
  auto* const objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(settings));
  for (int i = 0; i < size_of(objects); ++i)
    if (X509_OBJECT_get_type(item_of<X509_OBJECT>(objects, i)) == kind) return true;
  return false;
}

void refuse_revoked(SSL_CTX* settings) {
  SSL_CTX_set_tlsext_status_type(settings, TLSEXT_STATUSTYPE_ocsp);
  // The macro SSL_CTX_set_tlsext_status_cb contains an old-style cast.
  SSL_CTX_callback_ctrl(settings, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB,
                        reinterpret_cast<void (*)()>(judge_staple));
  if (!holds(settings, X509_LU_CRL))
    return;  // without this return, each handshake would search the system's folder for CRLs
  X509_STORE* const trusted = SSL_CTX_get_cert_store(settings);
  X509_STORE_set_flags(trusted, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  X509_STORE_set_verify_cb(trusted, allow_missing_crl);
}

}  // namespace reprise::net
