#include "proxy/net/tls/tls_channel.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "proxy/net/io/clock.hpp"

namespace reprise::net {
namespace {

constexpr Duration close_notify_limit = std::chrono::seconds(1);

std::unique_ptr<Link> take_link(Carrier& carrier) {
  auto* const link = std::get_if<std::unique_ptr<Link>>(&carrier);
  return link == nullptr ? nullptr : std::move(*link);
}

Task<ErrorCode> wait(tcp::socket& socket, tcp::socket::wait_type direction) {
  co_return std::get<0>(co_await socket.async_wait(direction, as_result));
}

}  // namespace

void TlsChannel::FreeConnection::operator()(SSL* connection) const { SSL_free(connection); }

TlsChannel::TlsChannel(Carrier carrier, SSL_CTX* settings)
    : below_(take_link(carrier)),
      socket_(below_ == nullptr ? std::get<tcp::socket>(std::move(carrier))
                                : tcp::socket(below_->executor())),
      connection_(SSL_new(settings)) {
  if (connection_ == nullptr) throw std::bad_alloc();
  errors_.below = below_.get();
  if (below_ == nullptr) errors_.descriptor = socket_.native_handle();
  attach_socket(connection_.get(), errors_);
  note_remarks(connection_.get(), remarks_);
}

Task<ErrorCode> TlsChannel::wait_readable() {
  return below_ != nullptr ? below_->wait_readable() : wait(socket_, tcp::socket::wait_read);
}

Task<ErrorCode> TlsChannel::wait_writable() {
  return below_ != nullptr ? below_->wait_writable() : wait(socket_, tcp::socket::wait_write);
}

void TlsChannel::cancel() {
  if (below_ != nullptr) return below_->cancel();
  ErrorCode ignored;
  socket_.cancel(ignored);
}

bool TlsChannel::open() const { return below_ != nullptr ? below_->open() : socket_.is_open(); }

void TlsChannel::close() {
  if (below_ != nullptr) return below_->close();
  ErrorCode ignored;
  socket_.close(ignored);
}

void TlsChannel::cut() {
  if (below_ != nullptr) return below_->cut();
  ErrorCode ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

int TlsChannel::descriptor() { return below_ != nullptr ? below_->descriptor() : socket_.native_handle(); }

bool TlsChannel::try_notify() {
  ERR_clear_error();
  const int result = SSL_shutdown(connection_.get());
  const bool waits = result < 0 && SSL_get_error(connection_.get(), result) == SSL_ERROR_WANT_WRITE;
  notice_ = waits ? Notice::pending : Notice::sent;
  return !waits;
}

Task<void> TlsChannel::send_close_notify(std::shared_ptr<TlsChannel> channel) {
  const Instant due = Clock::now() + close_notify_limit;
  Timer limit(channel->executor(), close_notify_limit);
  limit.async_wait([channel](const ErrorCode& error) {
    if (!error) channel->cancel();
  });
  while (channel->open() && Clock::now() < due) {
    const ErrorCode error = co_await channel->wait_writable();
    if (error && error != asio::error::operation_aborted) break;
    if (!error && channel->try_notify()) break;
  }
  channel->notice_ = Notice::sent;
  if (channel->closes) channel->close();
}

}  // namespace reprise::net
