#include "proxy/server/admin/ask_admin.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <utility>

namespace reprise::server {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;

constexpr std::uint64_t body_limit = 64 * 1024 * 1024;

// One pending request. Its handlers keep it alive.
class Question : public std::enable_shared_from_this<Question> {
 public:
  Question(asio::io_context& io, AdminAddress at, std::string_view target, Duration timeout,
           std::function<void(AdminResponse)> handler)
      : at_(std::move(at)),
        handler_(std::move(handler)),
        timeout_(timeout),
        resolver_(io),
        stream_(io),
        request_(bhttp::verb::get, {target.data(), target.size()}, 11) {
    request_.set(bhttp::field::host, authority_of(at_));
    request_.set(bhttp::field::connection, "close");
    parser_.body_limit(body_limit);
  }

  void start() {
    resolver_.async_resolve(at_.host, at_.port, [self = shared_from_this()](auto error, const auto& found) {
      if (error) return self->fail(error);
      self->connect(found);
    });
  }

 private:
  using Error = boost::system::error_code;

  void connect(const asio::ip::tcp::resolver::results_type& found) {
    stream_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(timeout_));
    stream_.async_connect(found, [self = shared_from_this()](Error error, const auto&) {
      if (error) return self->fail(error);
      self->write();
    });
  }
  void write() {
    bhttp::async_write(stream_, request_, [self = shared_from_this()](Error error, std::size_t) {
      if (error) return self->fail(error);
      self->read();
    });
  }
  void read() {
    bhttp::async_read(stream_, buffer_, parser_, [self = shared_from_this()](Error error, std::size_t) {
      if (error) return self->fail(error);
      self->handler_(
          {static_cast<int>(self->parser_.get().result_int()), std::move(self->parser_.get().body())});
    });
  }
  void fail(Error error) {
    handler_({0, "no response from the admin listener at " + authority_of(at_) + ": " + error.message() +
                     "; check that reprise is running and that this is its admin.bind (--admin HOST:PORT or "
                     "-c FILE)"});
  }

  AdminAddress at_;
  std::function<void(AdminResponse)> handler_;
  Duration timeout_;
  asio::ip::tcp::resolver resolver_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  bhttp::request<bhttp::empty_body> request_;
  bhttp::response_parser<bhttp::string_body> parser_;
};

}  // namespace

std::string authority_of(const AdminAddress& at) {
  const bool v6 = at.host.find(':') != std::string::npos;
  return (v6 ? "[" + at.host + "]" : at.host) + ":" + at.port;
}

void ask_admin(asio::io_context& io, const AdminAddress& at, std::string_view target, Duration timeout,
               std::function<void(AdminResponse)> handler) {
  std::make_shared<Question>(io, at, target, timeout, std::move(handler))->start();
}

AdminResponse ask_admin(const AdminAddress& at, std::string_view target, Duration timeout) {
  asio::io_context io;
  AdminResponse response;
  ask_admin(io, at, target, timeout, [&response](AdminResponse received) { response = std::move(received); });
  io.run();
  return response;
}

}  // namespace reprise::server
