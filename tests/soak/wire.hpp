// One end of an HTTP connection: reads heads and pieces of bodies, and shows how the connection ended.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/http_reader.hpp"

namespace reprise::soak {

namespace asio = boost::asio;
using asio::ip::tcp;
using play::HttpReader;
template <typename Result = void>
using Task = asio::awaitable<Result>;
/// Reports failures as values, not as exceptions.
inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// A message head, unchanged: start line and fields.
class Head {
 public:
  Head() = default;
  explicit Head(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  std::string_view first_line() const;
  /// Returns the value of the first field with this name (case-insensitive); null if there is none.
  std::optional<std::string_view> field(std::string_view name) const;
  /// Returns the number in the first field with this name; 0 if there is none.
  std::uint64_t number(std::string_view name) const;
  bool has(std::string_view name, std::string_view value) const;
  /// Returns the status of a response; 0 if the start line has none.
  int status() const { return play::status_of(text_); }

 private:
  std::string text_;
};

/// Returns the kind of HttpReader that reads the response to a request with this method.
HttpReader::Kind kind_of_response(std::string_view method);

class Wire {
 public:
  explicit Wire(tcp::socket socket);
  /// Reads at least one byte. Returns false at the end of the connection.
  Task<bool> more();
  /// Reads the next head, including its empty line. Returns null at the end of the connection, or if the head
  /// is malformed.
  Task<std::optional<Head>> read_head();
  /// Reads the next line, without its CRLF. Returns null at the end of the connection.
  Task<std::optional<std::string>> read_line();
  /// Reads the next bytes, which stay valid until the next call. Empty at the end of the connection.
  Task<std::string_view> take(std::size_t most);
  /// Returns false if the connection failed.
  Task<bool> write(std::string_view bytes);
  /// Bytes that were read but not consumed.
  std::string_view at_hand() const { return {room_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Reads and discards until the other side ends the connection.
  Task<void> drain();
  /// Closes with RST.
  void reset();
  /// Sends FIN.
  void finish();
  void close();
  /// Returns true once the other side has sent FIN.
  bool finished() const { return finished_; }
  bool open() const { return socket_.is_open(); }
  tcp::socket& socket() { return socket_; }

 private:
  tcp::socket socket_;
  std::vector<char> room_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t lent_ = 0;
  bool finished_ = false;
};

/// The body that follows a head, piece by piece.
class Body {
 public:
  Body(Wire& wire, const Head& head, HttpReader::Kind kind);
  /// Reads the next bytes, which stay valid until the next call. Empty at the end.
  Task<std::string_view> next(std::size_t most = 1 << 16);
  /// Returns true once the body ended as its framing announced.
  bool whole() const { return reader_.complete(); }

 private:
  Wire& wire_;
  HttpReader reader_;
  std::size_t lent_ = 0;
};

/// Waits without blocking the thread.
Task<void> pause(std::uint64_t milliseconds);

}  // namespace reprise::soak
