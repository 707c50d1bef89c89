#include "proxy/server/trace_export/collector_client.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>

#include "proxy/http/message/interims.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/net/tls/tls_link.hpp"

namespace reprise::server {
namespace {

namespace beast = boost::beast;
using Parser = beast::http::response_parser<beast::http::string_body>;

constexpr std::size_t most_header = 16 * 1024;
constexpr std::size_t most_body = 64 * 1024;
constexpr std::size_t piece_bytes = 16 * 1024;
// Limit for one name lookup, and for connecting to one address.
constexpr Duration dial_limit = std::chrono::seconds(3);
constexpr Duration longest_pause = std::chrono::minutes(5);

std::string authority_of(const config::Collector& collector) {
  const bool v6 = collector.host.find(':') != std::string::npos;
  return (v6 ? "[" + collector.host + "]" : collector.host) + ":" + std::to_string(collector.port);
}

// Returns the pause of a Retry-After field (RFC 9110 10.2.3), at most five minutes. None for malformed text,
// zero and past dates.
std::optional<Duration> pause_of(std::string_view text) {
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec == std::errc::result_out_of_range) return longest_pause;
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    const std::int64_t now = net::Clock::wall_nanoseconds() / 1'000'000'000;
    const auto date = http::parse_date(text, now);
    seconds = date ? *date - now : 0;
  }
  if (seconds <= 0) return std::nullopt;
  return std::min<Duration>(std::chrono::seconds(std::min<std::int64_t>(seconds, 3600)), longest_pause);
}

Posted posted(Parser& parser) {
  Posted result{Posted::End::responded, static_cast<int>(parser.get().result_int())};
  const auto field = parser.get().find(beast::http::field::retry_after);
  if (field != parser.get().end()) {
    const auto value = field->value();
    result.retry_after = pause_of({value.data(), value.size()});
  }
  result.body = std::move(parser.get().body());
  return result;
}

std::unique_ptr<Parser> fresh_parser() {
  auto parser = std::make_unique<Parser>();
  parser->header_limit(most_header);
  parser->body_limit(most_body);
  parser->eager(true);
  return parser;
}

}  // namespace

CollectorClient::CollectorClient(net::Tick& tick, asio::any_io_executor executor, net::Resolver& resolver,
                                 std::string version, std::string via)
    : tick_(tick),
      executor_(std::move(executor)),
      resolver_(resolver),
      version_(std::move(version)),
      via_(std::move(via)),
      limit_(executor_) {}

Task<Posted> CollectorClient::post(const config::Collector& collector, std::string_view body,
                                   Duration limit) {
  posting_ = true;
  stopped_ = Posted::End::responded;
  const Instant due = due_ = net::Tick::now() + limit;
  limit_.expires_at(due);
  // The timer of an earlier post may fire late; its handler then does nothing.
  limit_.async_wait([this, due](const ErrorCode& error) {
    if (!error && posting_ && due_ == due) stop(Posted::End::timed_out);
  });
  Posted result = co_await run(collector, body);
  posting_ = false;
  limit_.cancel();
  result.end = judged(result.end);
  if (result.end != Posted::End::responded) stream_.reset();
  co_return result;
}

void CollectorClient::cancel() {
  if (posting_) stop(Posted::End::cancelled);
}

void CollectorClient::stop(Posted::End why) {
  stopped_ = why;
  if (lookup_) lookup_->cancel();
  if (stream_) stream_->cancel();
}

Posted::End CollectorClient::judged(Posted::End end) const {
  const bool stopped = stopped_ != Posted::End::responded;
  return stopped && end != Posted::End::responded ? stopped_ : end;
}

Task<Posted> CollectorClient::run(const config::Collector& collector, std::string_view body) {
  const bool reused = is_connected_to(collector);
  if (!reused) {
    if (const Posted::End end = co_await dial(collector); end != Posted::End::responded)
      co_return Posted{end, 0, {}, std::move(why_unproved_)};
  }
  // A server that rejects the body may respond and close before the whole body is sent.
  const bool cut_short = static_cast<bool>(co_await send(collector, body));
  const Posted result = co_await receive();
  if (cut_short) stream_.reset();
  const bool again = reused && result.end == Posted::End::broken && stopped_ == Posted::End::responded;
  if (!again) co_return result;
  // The collector had closed the idle connection, which does not count as a failure of the collector.
  stream_.reset();
  co_return co_await run(collector, body);
}

bool CollectorClient::is_connected_to(const config::Collector& collector) {
  if (stream_ == nullptr) return false;
  if (connected_to_ == collector && stream_->unread() == net::Unread::nothing) return true;
  stream_.reset();
  return false;
}

Task<std::vector<asio::ip::address>> CollectorClient::addresses_of(const std::string& host) {
  ErrorCode none;
  const auto literal = asio::ip::make_address(host, none);
  if (!none) co_return std::vector<asio::ip::address>{literal};
  lookup_ = resolver_.start(host, executor_);
  const auto found = co_await lookup_->wait(dial_limit);
  lookup_.reset();
  co_return found ? found->list : std::vector<asio::ip::address>{};
}

// Adds TLS to the connection. The limit of the whole post also ends the handshake.
Task<Posted::End> CollectorClient::secure(const config::Collector& collector) {
  try {
    if (tls_ == nullptr || tls_file_ != collector.ca_file) {
      policy::TlsPolicy trust;
      trust.ca_file = collector.ca_file;
      tls_ = std::make_shared<const net::TlsClient>(trust, 0);
      tls_file_ = collector.ca_file;
    }
  } catch (const std::runtime_error& error) {
    why_unproved_ = error.what();
    co_return Posted::End::unproved;
  }
  auto made = std::make_unique<net::TlsLink>(stream_->release(), *tls_, collector.host, nullptr);
  net::TlsLink& link = *made;
  stream_ = std::make_unique<net::Stream>(tick_, std::move(made));
  ErrorCode error;
  net::Handshake step = link.shake_hands();
  while (!error && (step == net::Handshake::wants_read || step == net::Handshake::wants_write)) {
    if (step == net::Handshake::wants_read) {
      error = co_await stream_->wait_readable();
    } else {
      error = co_await stream_->wait_writable(dial_limit);
    }
    if (!error) step = link.shake_hands();
  }
  if (!error && step == net::Handshake::done) co_return Posted::End::responded;
  why_unproved_ = error ? error.message() : link.words();
  if (const auto why = link.why_unproved(); !why.empty()) why_unproved_.append(": ").append(why);
  co_return Posted::End::unproved;
}

Task<Posted::End> CollectorClient::dial(const config::Collector& collector) {
  const auto addresses = co_await addresses_of(collector.host);
  if (addresses.empty()) co_return Posted::End::unresolved;
  for (const auto& address : addresses) {
    if (stopped_ != Posted::End::responded) break;
    stream_ = std::make_unique<net::Stream>(tick_, tcp::socket(executor_));
    const ErrorCode error =
        co_await stream_->connect({address, collector.port}, std::min(due_, net::Tick::now() + dial_limit));
    if (!error) {
      stream_->tune();
      connected_to_ = collector;
      if (!collector.tls) co_return Posted::End::responded;
      const Posted::End end = co_await secure(collector);
      if (end != Posted::End::responded) stream_.reset();
      co_return end;
    }
    stream_.reset();
  }
  resolver_.evict(collector.host);
  co_return Posted::End::unconnected;
}

Task<ErrorCode> CollectorClient::send(const config::Collector& collector, std::string_view body) {
  std::string head = "POST " + collector.path + " HTTP/1.1\r\nHost: " + authority_of(collector);
  head.append("\r\nUser-Agent: reprise/").append(version_).append("\r\nVia: 1.1 ").append(via_);
  head.append("\r\nContent-Type: application/json\r\nContent-Length: ").append(std::to_string(body.size()));
  for (const auto& [name, value] : collector.headers)
    head.append("\r\n").append(name).append(": ").append(value);
  head.append("\r\n\r\n");
  // The request is sent in pieces: while the kernel copies one piece and delivers it over loopback, no client
  // is served on the same core.
  net::Gather gather;
  gather.add(head);
  ErrorCode error;
  do {
    gather.add(body.substr(0, piece_bytes));
    body.remove_prefix(std::min(body.size(), piece_bytes));
    error = co_await stream_->write_all(gather, std::max(due_ - net::Tick::now(), Duration::zero()));
    gather = {};
  } while (!error && !body.empty());
  co_return error;
}

Task<Posted> CollectorClient::receive() {
  auto parser = fresh_parser();
  http::Interims interims;
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t held = 0;
  for (;;) {
    beast::error_code error;
    while (held > 0 && !error && !parser->is_done()) {
      const std::size_t taken = parser->put(asio::buffer(buffer.data(), held), error);
      std::copy(buffer.begin() + static_cast<std::ptrdiff_t>(taken),
                buffer.begin() + static_cast<std::ptrdiff_t>(held), buffer.begin());
      held -= taken;
      if (taken == 0) break;
    }
    const bool needs_more = error == beast::http::error::need_more;
    if (parser->is_done() && parser->get().result_int() < 200) {
      if (!interims.admit(0)) {
        stream_.reset();
        co_return Posted{Posted::End::malformed};
      }
      parser = fresh_parser();
      continue;
    }
    if (parser->is_done()) break;
    const bool full = held == buffer.size();
    if ((error && !needs_more) || full) {
      stream_.reset();
      // A valid status counts even if the rest of the response is too long or malformed.
      co_return parser->is_header_done() ? posted(*parser) : Posted{Posted::End::malformed};
    }
    const auto [failure, bytes] =
        co_await stream_->read_some(asio::buffer(buffer.data() + held, buffer.size() - held));
    held += bytes;
    if (!failure) continue;
    const bool known = parser->is_header_done() && stopped_ == Posted::End::responded;
    stream_.reset();
    co_return known ? posted(*parser) : Posted{Posted::End::broken};
  }
  if (!parser->get().keep_alive() || held > 0) stream_.reset();
  co_return posted(*parser);
}

}  // namespace reprise::server
