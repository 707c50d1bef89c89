// One end of one HTTP connection that shows every byte: heads, bodies by piece, and how it ended.
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
/// A failure is a value.
inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// A message head: start line and fields, as they came.
class Head {
 public:
  Head() = default;
  explicit Head(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  std::string_view first_line() const;
  /// The value of the first field of that name, any case.
  std::optional<std::string_view> field(std::string_view name) const;
  /// A field's whole number; 0 where there is none.
  std::uint64_t number(std::string_view name) const;
  bool has(std::string_view name, std::string_view value) const;
  /// Of a response; 0 if the start line has none.
  int status() const { return play::status_of(text_); }

 private:
  std::string text_;
};

/// What is read as the response to a request of that method.
HttpReader::Kind kind_of_response(std::string_view method);

class Wire {
 public:
  explicit Wire(tcp::socket socket);
  /// Reads what there is, at least one byte; false at the end.
  Task<bool> more();
  /// The next head, its empty line included.
  Task<std::optional<Head>> read_head();
  /// The next line, without its CRLF.
  Task<std::optional<std::string>> read_line();
  /// The next bytes as they come, valid until the next call; nothing at the end.
  Task<std::string_view> take(std::size_t most);
  /// False if the other side is gone.
  Task<bool> write(std::string_view bytes);
  /// Bytes that were read and not consumed.
  std::string_view at_hand() const { return {room_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Reads until the other side ends, and keeps nothing.
  Task<void> drain();
  /// Ends with RST.
  void reset();
  /// Ends our side with FIN.
  void finish();
  void close();
  /// True once the other side has ended with FIN.
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

/// The body behind a head, piece by piece.
class Body {
 public:
  Body(Wire& wire, const Head& head, HttpReader::Kind kind);
  /// The next bytes, valid until the next call; nothing at the end.
  Task<std::string_view> next(std::size_t most = 1 << 16);
  /// True once the end came as the framing promised.
  bool whole() const { return reader_.complete(); }

 private:
  Wire& wire_;
  HttpReader reader_;
  std::size_t lent_ = 0;
};

/// A pause of this task.
Task<void> pause(std::uint64_t milliseconds);

}  // namespace reprise::soak
