#include "proxy/net/tls/tls_remarks.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>

namespace reprise::net {
namespace {

constexpr std::array final_alerts{SSL_AD_BAD_CERTIFICATE,     SSL_AD_UNSUPPORTED_CERTIFICATE,
                                  SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
                                  SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
                                  SSL_AD_ACCESS_DENIED,       SSL_AD_CERTIFICATE_REQUIRED};

int remarks_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

TlsRemarks* remarks_of(const SSL* connection) {
  return static_cast<TlsRemarks*>(SSL_get_ex_data(connection, remarks_index()));
}

// Callback of OpenSSL. The parameter `value` is the alert as level * 256 + number.
void note_alert(const SSL* connection, int where, int value) {
  if ((where & SSL_CB_ALERT) == 0) return;
  TlsRemarks* const remarks = remarks_of(connection);
  if (remarks == nullptr) return;
  constexpr int fatal = 2;
  const int alert = value & 0xff;
  if ((where & SSL_CB_READ) != 0 && value >> 8 == fatal) remarks->alert = alert;
  if ((where & SSL_CB_WRITE) != 0 && alert == SSL_AD_NO_RENEGOTIATION)
    remarks->asked_for_renegotiation = true;
}

// Returns the name of an alert. OpenSSL 3.0 has no text for the two alerts that are compared here.
std::string_view name_of(int alert) {
  if (alert == SSL_AD_CERTIFICATE_REQUIRED) return "certificate required";
  if (alert == SSL_AD_NO_APPLICATION_PROTOCOL) return "no application protocol";
  return SSL_alert_desc_string_long(alert);
}

int note_request(SSL* connection, void* /*unused*/) {
  if (TlsRemarks* const remarks = remarks_of(connection)) remarks->asked_for_certificate = true;
  return 1;
}

}  // namespace

void note_remarks(SSL* connection, TlsRemarks& remarks) {
  SSL_set_ex_data(connection, remarks_index(), &remarks);
  SSL_set_info_callback(connection, note_alert);
}

void note_certificate_requests(SSL_CTX* settings) { SSL_CTX_set_cert_cb(settings, note_request, nullptr); }

TlsRefusal refusal_in(const TlsRemarks& remarks) {
  if (remarks.asked_for_renegotiation)
    return {
        "the upstream asked for renegotiation, which is not supported: configure it to request the client "
        "certificate in the first handshake, or to use TLS 1.3",
        true};
  if (remarks.alert < 0) return {};
  const bool is_about_us =
      std::find(final_alerts.begin(), final_alerts.end(), remarks.alert) != final_alerts.end();
  const bool wanted_certificate = remarks.alert == SSL_AD_HANDSHAKE_FAILURE && remarks.asked_for_certificate;
  return {name_of(remarks.alert), is_about_us || wanted_certificate,
          remarks.alert == SSL_AD_NO_APPLICATION_PROTOCOL};
}

}  // namespace reprise::net
