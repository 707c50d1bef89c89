#include "proxy/exchange/full_duplex.hpp"

#include <array>

namespace reprise::net {

bool is_unasked_body(const Request& request) {
  return request.head.expects_continue() && !request.continue_sent && !request.body.complete();
}

FullDuplex::~FullDuplex() {
  if (response_.sending != nullptr) response_.sending->upload().tell(nullptr);
}

bool FullDuplex::is_running() const {
  return response_.sending != nullptr && response_.sending->upload().end() == UploadEnd::running;
}

Task<void> FullDuplex::begin() {
  Upload& upload = response_.sending->upload();
  if (!is_running()) {
    upload_ended(upload.end());  // before anybody listened
    co_return;
  }
  upload.tell(this);
  const bool refuses_the_rest = response_.head.status >= 400 && response_.head.close;
  if (refuses_the_rest || is_unasked_body(request_)) co_await upload.stop();
}

void FullDuplex::upload_ended(UploadEnd end) {
  if (end == UploadEnd::client_stalled) worker_.shared.metrics.count_limit(observe::LimitHit::request_idle);
  if (end == UploadEnd::client_gone || end == UploadEnd::client_stalled || end == UploadEnd::malformed) {
    client_left_ = true;
    if (response_.connection != nullptr) upstream().cancel();
  } else if (waits_for_end_) {
    upstream().end_read();
  }
}

Task<void> FullDuplex::end(const Relayed& relayed) {
  const bool whole = relayed.end == Relayed::End::complete;
  const bool upstream_has_closed = response_.head.framing.kind == http::Framing::Kind::until_close;
  bool silent = true;
  if (whole && response_.head.status < 400 && !upstream_has_closed && is_running()) {
    // Whatever comes behind a whole response is the upstream's end, or a byte that nobody asked for.
    std::array<char, 1> byte{};
    waits_for_end_ = true;
    upstream().end_limit();
    const auto [error, bytes] = co_await upstream().read_some(asio::buffer(byte));
    waits_for_end_ = false;
    silent = bytes == 0;
  }
  const bool closed = is_running();
  co_await response_.stop_sending();
  if (!whole || client_left_ || closed || !silent) {
    response_.connection.reset();
    co_return;
  }
  response_.overtook = false;
  finish_connection(worker_.pool, response_, false);
}

}  // namespace reprise::net
