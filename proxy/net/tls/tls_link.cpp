#include "proxy/net/tls/tls_link.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <cstring>
#include <utility>

#include "proxy/net/io/clock.hpp"
#include "proxy/net/io/http2_error.hpp"
#include "proxy/net/tls/tls_demands.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t record_bytes = 16 * 1024;

}  // namespace

TlsLink::TlsLink(Carrier carrier, const TlsClient& client, std::string_view name,
                 std::shared_ptr<TlsTicket> ticket, Protocol protocol)
    : channel_(std::make_shared<TlsChannel>(std::move(carrier), client.settings())), protocol_(protocol) {
  SSL* const connection = channel_->connection();
  channel_->ticket() = std::move(ticket);
  SSL_set_app_data(connection, channel_->ticket().get());
  offer(connection, protocol_);
  nameless_ = !require_name(connection, std::string(name));
  if (const auto& kept = channel_->ticket(); kept != nullptr && kept->newest != nullptr)
    SSL_set_session(connection, kept->newest.get());
  SSL_set_connect_state(connection);
}

TlsLink::TlsLink(Carrier carrier, const TlsServer& server, std::string before, Protocol offered)
    : channel_(std::make_shared<TlsChannel>(std::move(carrier), server.settings())) {
  channel_->errors().before = std::move(before);
  if (offered == Protocol::either) allow_http2(channel_->connection());
  SSL_set_accept_state(channel_->connection());
}

TlsLink::~TlsLink() { close(); }

Handshake TlsLink::shake_hands() {
  SSL* const connection = channel_->connection();
  if (nameless_) {
    failure_ = TlsError::certificate;
    why_unproved_ = "no server name is known that the certificate could be verified against";
    words_ = why_unproved_;
    return Handshake::failed;
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(connection);
  if (result == 1) {
    established_ = SSL_is_server(connection) == 1 || is_selected(connection, protocol_);
    if (established_) return Handshake::done;
    if (protocol_ == Protocol::http2) {
      failure_ = Http2Error::not_http2;
      words_ = "the upstream did not select h2 (ALPN)";
    } else {
      failure_ = TlsError::protocol;
      words_ = "the upstream selected a protocol that was not offered (ALPN)";
    }
    return Handshake::failed;
  }
  const int kind = SSL_get_error(connection, result);
  if (kind == SSL_ERROR_WANT_READ) return Handshake::wants_read;
  if (kind == SSL_ERROR_WANT_WRITE) return Handshake::wants_write;
  broken_ = true;
  failure_ = error_of(result);
  words_ = tls_words();
  if (words_.empty()) words_ = failure_.message();
  if (const long verdict = SSL_get_verify_result(connection); verdict != X509_V_OK) {
    failure_ = TlsError::certificate;
    why_unproved_ = X509_verify_cert_error_string(verdict);
    words_.assign("the certificate could not be verified: ").append(why_unproved_);
  }
  return Handshake::failed;
}

// Returns the error of a failed OpenSSL call. Leaves the error in OpenSSL's queue, so that the caller can
// read the text of the error.
ErrorCode TlsLink::error_of(int result) {
  switch (SSL_get_error(channel_->connection(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN: return asio::error::eof;
    case SSL_ERROR_SYSCALL: return {channel_->errors().code, boost::system::system_category()};
    default: break;
  }
  // Ignores the socket's error, because it may belong to an alert that could not be sent.
  const bool ended = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  return ended ? TlsError::no_close_notify : TlsError::protocol;
}

asio::any_io_executor TlsLink::executor() { return channel_->executor(); }

// Reads as many records as are available.
std::size_t TlsLink::take(asio::mutable_buffer into, ErrorCode& error) {
  if (later_) {
    error = later_;
    return 0;
  }
  SSL* const connection = channel_->connection();
  std::size_t taken = 0;
  while (into.size() > 0) {
    ERR_clear_error();
    std::size_t bytes = 0;
    const int result = SSL_read_ex(connection, into.data(), into.size(), &bytes);
    if (result != 1) {
      const ErrorCode why = error_of(result);
      read_wants_write_ = SSL_want_write(connection);
      if (why != asio::error::would_block) {
        later_ = why;
        broken_ = broken_ || why != asio::error::eof;
      }
      if (taken == 0) error = why;
      break;
    }
    taken += bytes;
    into += bytes;
    if (SSL_has_pending(connection) == 0) break;
  }
  return taken;
}

ReadTask TlsLink::read_some(asio::mutable_buffer into) {
  const unsigned cancels = cancels_;
  for (;;) {
    ErrorCode error;
    std::size_t bytes = 0;
    // Right after a write, the response has rarely arrived. The first read is therefore skipped to save a
    // system call.
    if (std::exchange(asked_, false)) {
      error = asio::error::would_block;
    } else {
      bytes = take(into, error);
    }
    if (error != asio::error::would_block) co_return std::tuple(error, bytes);
    // Avoids the conditional operator, because GCC 12 destroys the result of a co_await inside such an
    // operator twice.
    ErrorCode failure;
    if (read_wants_write_) {
      failure = co_await channel_->wait_writable();
    } else {
      failure = co_await channel_->wait_readable();
    }
    // Checks for a cancel even if there is no error, because bytes of a partial record may have ended the
    // wait at the same time as a call of `cancel`.
    if (cancels != cancels_) co_return std::tuple(ErrorCode(asio::error::operation_aborted), std::size_t{0});
    if (failure) co_return std::tuple(failure, std::size_t{0});
  }
}

Task<ErrorCode> TlsLink::wait_readable() {
  if (established_ && unread() != Unread::nothing) co_return ErrorCode();
  co_return co_await channel_->wait_readable();
}

Task<ErrorCode> TlsLink::wait_writable() { co_return co_await channel_->wait_writable(); }

std::size_t TlsLink::seal(asio::const_buffer bytes, ErrorCode& error) {
  ERR_clear_error();
  std::size_t sealed = 0;
  const int result = SSL_write_ex(channel_->connection(), bytes.data(), bytes.size(), &sealed);
  write_waits_ = false;
  asked_ = result == 1 && SSL_has_pending(channel_->connection()) == 0 && !later_;
  if (result == 1) return sealed;
  error = error_of(result);
  write_waits_ = error == asio::error::would_block;
  broken_ = broken_ || !write_waits_;
  return 0;
}

// Joins small pieces, so that a head and its body are one record. After would_block the same pieces are
// joined in the same way, because OpenSSL requires that a write is repeated with the same bytes.
std::size_t TlsLink::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  static thread_local std::array<char, record_bytes> scratch;
  std::size_t taken = 0;
  asio::const_buffer part;
  std::size_t next = 0;
  while (!error) {
    while (part.size() == 0 && next < parts.size()) part = parts[next++];
    if (part.size() == 0) return taken;
    if (part.size() >= record_bytes || next == parts.size()) {
      const std::size_t sealed = seal(asio::buffer(part, record_bytes), error);
      taken += sealed, part += sealed;
      continue;
    }
    std::size_t gathered = 0;
    std::size_t behind = next;
    asio::const_buffer rest = part;
    while (gathered < record_bytes && rest.size() > 0) {
      const std::size_t bytes = std::min(rest.size(), record_bytes - gathered);
      std::memcpy(scratch.data() + gathered, rest.data(), bytes);
      gathered += bytes;
      rest += bytes;
      while (rest.size() == 0 && behind < parts.size()) rest = parts[behind++];
    }
    if (seal(asio::buffer(scratch.data(), gathered), error) == 0) break;
    taken += gathered;
    part = rest;
    next = behind;
  }
  if (taken > 0 && error == asio::error::would_block) error.clear();
  return taken;
}

void TlsLink::cancel() {
  ++cancels_;
  channel_->cancel();
}

// Sends no close_notify after a failure, or while a record is half written.
void TlsLink::notify() {
  if (!established_ || broken_ || write_waits_ || channel_->notice() != TlsChannel::Notice::unsent) return;
  // If this TLS runs inside another TLS, no further try is needed: the outer TLS sends its own close_notify.
  if (channel_->try_notify() || channel_->below() != nullptr) return;
  asio::co_spawn(channel_->executor(), TlsChannel::send_close_notify(channel_), or_abort);
}

void TlsLink::finish_sending() { notify(); }

void TlsLink::close() {
  if (channel_->closes) return;
  cancel();
  notify();
  channel_->closes = true;
  // A session ticket that arrives after this call is not stored.
  SSL_set_app_data(channel_->connection(), nullptr);
  if (channel_->notice() != TlsChannel::Notice::pending || channel_->below() != nullptr) channel_->close();
}

void TlsLink::cut() {
  channel_->closes = true;
  channel_->cut();
}

bool TlsLink::open() const { return !channel_->closes && channel_->open(); }

Unread TlsLink::unread() {
  if (later_ || !open()) return Unread::closed;
  char byte = 0;
  ERR_clear_error();
  const int result = SSL_peek(channel_->connection(), &byte, 1);
  if (result > 0) {
    // The bytes are in OpenSSL's buffer now, so the socket does not become readable for them.
    asked_ = false;
    return Unread::bytes;
  }
  const ErrorCode why = error_of(result);
  if (why == asio::error::would_block) return Unread::nothing;
  later_ = why;
  broken_ = broken_ || why != asio::error::eof;
  return Unread::closed;
}

TlsRefusal TlsLink::refusal() const { return refusal_in(channel_->remarks()); }

Presence TlsLink::presence() {
  if (!open()) return Presence::reset;
  Link* const below = channel_->below();
  return below != nullptr ? below->presence() : presence_of(descriptor());
}

int TlsLink::descriptor() { return channel_->descriptor(); }

std::size_t TlsLink::read_now(asio::mutable_buffer into, ErrorCode& error) { return take(into, error); }

bool TlsLink::selected_http2() const { return has_selected_http2(channel_->connection()); }

bool TlsLink::resumed() const { return SSL_session_reused(channel_->connection()) == 1; }

}  // namespace reprise::net
