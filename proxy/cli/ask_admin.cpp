#include "proxy/cli/ask_admin.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>

#include "proxy/cli/assumption.hpp"
#include "proxy/cli/commands.hpp"
#include "proxy/startup/configuration.hpp"

namespace reprise::cli {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;
using boost::system::error_code;

constexpr std::uint64_t body_limit = 64 * 1024 * 1024;

// What listens at every address is asked at this machine's own.
std::string asked_at(const std::string& bound) {
  error_code ignored;
  const auto address = asio::ip::make_address(bound, ignored);
  if (ignored || !address.is_unspecified()) return bound;
  return address.is_v6() ? "::1" : "127.0.0.1";
}

std::string authority(const AdminAddress& at) {
  const bool v6 = at.host.find(':') != std::string::npos;
  return (v6 ? "[" + at.host + "]" : at.host) + ":" + at.port;
}

std::optional<AdminAddress> split(const std::string& given) {
  const std::size_t colon = given.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == given.size()) return std::nullopt;
  std::string host = given.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return AdminAddress{std::move(host), given.substr(colon + 1)};
}

}  // namespace

std::optional<AdminAddress> admin_address(const std::string& given, const std::string& file, int& code) {
  if (!given.empty()) {
    auto at = split(given);
    if (!at) throw BadUse("--admin " + given + ": write HOST:PORT, as in 127.0.0.1:3129");
    return at;
  }
  config::Endpoint bound = config::Settings{}.admin.bind;
  if (!file.empty()) {
    const config::Loaded loaded = load_configuration(file);
    if (!loaded.settings) {
      code = exit_bad_configuration;
      return std::nullopt;
    }
    bound = loaded.settings->admin.bind;
  }
  if (bound.port == 0) {
    std::fprintf(
        stderr,
        "%s: error: admin.bind: its port is chosen at start (0): name it with --admin HOST:PORT, as the "
        "log has it\n",
        file.c_str());
    code = exit_usage;
    return std::nullopt;
  }
  return AdminAddress{asked_at(bound.address), std::to_string(bound.port)};
}

AdminResponse ask_admin(const AdminAddress& at, std::string_view target, net::Duration patience) {
  asio::io_context io;
  boost::beast::tcp_stream stream(io);
  boost::beast::flat_buffer buffer;
  bhttp::request<bhttp::empty_body> question(bhttp::verb::get, {target.data(), target.size()}, 11);
  question.set(bhttp::field::host, authority(at));
  question.set(bhttp::field::connection, "close");
  bhttp::response_parser<bhttp::string_body> parser;
  parser.body_limit(body_limit);
  error_code error;
  const auto addresses = asio::ip::tcp::resolver(io).resolve(at.host, at.port, error);
  if (!error) {
    stream.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(patience));
    stream.async_connect(addresses, [&](error_code refused, const asio::ip::tcp::endpoint&) {
      error = refused;
      if (error) return;
      bhttp::async_write(stream, question, [&](error_code unsent, std::size_t) {
        error = unsent;
        if (error) return;
        bhttp::async_read(stream, buffer, parser, [&](error_code unread, std::size_t) { error = unread; });
      });
    });
    io.run();
  }
  if (!error) return {static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
  return {0, "no response from the admin listener at " + authority(at) + ": " + error.message() +
                 "; is reprise running, and is that its admin.bind? (--admin HOST:PORT, or -c FILE)"};
}

}  // namespace reprise::cli
