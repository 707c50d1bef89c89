#include "proxy/forward/exchange/full_duplex.hpp"

namespace reprise::forward {

FullDuplex::~FullDuplex() {
  if (response_.sending != nullptr) response_.sending->upload().set_listener(nullptr);
}

Task<void> FullDuplex::begin() {
  Upload& upload = response_.sending->upload();
  upload.stop_holding();
  if (!response_.is_sending()) {
    upload_ended(upload.end());  // the upload ended before this object became its listener
    co_return;
  }
  upload.set_listener(this);
  const bool refuses_the_rest = response_.head.status >= 400 && response_.head.close;
  if (refuses_the_rest || out_.waits_for_continue()) co_await upload.stop();
}

void FullDuplex::upload_ended(UploadEnd end) {
  if (end == UploadEnd::client_stalled) worker_.shared.metrics.count_limit(telemetry::LimitHit::request_idle);
  if (end == UploadEnd::client_gone || end == UploadEnd::client_stalled || end == UploadEnd::malformed) {
    client_left_ = true;
    if (response_.connection) upstream().cancel();
  } else if (waits_for_end_) {
    upstream().end_read();
  }
}

Task<void> FullDuplex::end(const Relayed& relayed) {
  const bool whole = relayed.end == Relayed::End::complete;
  const bool upstream_has_closed = response_.head.framing.kind == http::Framing::Kind::until_close;
  bool silent = true;
  if (whole && response_.head.status < 400 && !upstream_has_closed && response_.is_sending()) {
    // The response is complete. Only a FIN, a reset or an unsolicited byte can still arrive from the
    // upstream.
    waits_for_end_ = true;
    silent = co_await upstream().wait_for_end();
    waits_for_end_ = false;
  }
  const bool closed = response_.is_sending();
  co_await response_.stop_sending();
  if (!whole || client_left_ || closed || !silent) {
    response_.connection.reset();
    co_return;
  }
  response_.overtook = false;
  finish_connection(worker_.pool, response_, false);
}

}  // namespace reprise::forward
