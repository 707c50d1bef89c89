// One end of one HTTP connection that shows every byte: heads, bodies by piece, and how it ended.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::soak {

namespace asio = boost::asio;
using asio::ip::tcp;
template <typename Result = void>
using Task = asio::awaitable<Result>;

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
  int status() const;

 private:
  std::string text_;
};

enum class Framing : std::uint8_t { none, counted, chunked, until_close };
Framing framing_of_request(const Head&);
Framing framing_of_response(const Head&, std::string_view method);

class Wire {
 public:
  explicit Wire(tcp::socket socket);
  /// Reads what there is, at least one byte; false at the end.
  Task<bool> more();
  /// The next head, its empty line included.
  Task<std::optional<Head>> read_head();
  /// The next line, without its CRLF.
  Task<std::optional<std::string>> read_line();
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
  bool finished_ = false;
};

/// The body behind a head, piece by piece.
class Body {
 public:
  Body(Wire& wire, Framing framing, std::uint64_t length) : wire_(wire), framing_(framing), left_(length) {}
  /// The next bytes, valid until the next call; nothing at the end.
  Task<std::string_view> next(std::size_t most = 1 << 16);
  /// True once the end came as the framing promised.
  bool whole() const { return whole_; }

 private:
  Task<std::string_view> take(std::size_t most);
  Task<bool> next_chunk();

  Wire& wire_;
  const Framing framing_;
  std::uint64_t left_;
  std::size_t lent_ = 0;
  bool in_chunk_ = false;
  bool whole_ = false;
};

/// A pause of this task.
Task<void> pause(std::uint64_t milliseconds);

}  // namespace reprise::soak
