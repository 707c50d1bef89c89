// Tests the chunked coding: strict, decoded in place, and independent of how the bytes are split.
#include "proxy/http/http1/chunked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/http/reading.hpp"
#include "tests/support/chance.hpp"

namespace reprise::http {
namespace {

using std::string;
using State = ChunkDecoder::State;
using namespace std::string_literals;

struct Decoded {
  State state = State::more;
  string body;
  string trailers;
  std::size_t consumed = 0;
  std::optional<Rejection> cause;

  bool operator==(const Decoded&) const = default;
};

/// Decodes the text in pieces whose sizes come from `next`.
template <class Next>
Decoded decode_in_pieces(const string& text, Next next) {
  ChunkDecoder decoder;
  Decoded decoded;
  while (decoded.consumed < text.size() && decoded.state != State::done && decoded.state != State::broken) {
    const std::string_view piece = std::string_view(text).substr(decoded.consumed, next());
    const ChunkDecoder::Step step = decoder.step(piece);
    decoded.state = step.state;
    decoded.consumed += step.consumed;
    decoded.body += step.data;
    if (step.state == State::broken) decoded.cause = step.cause;
    if (step.state == State::more) {
      EXPECT_EQ(step.consumed, piece.size());
    }
  }
  decoded.trailers = decoder.trailers();
  return decoded;
}

Decoded decode(const string& text) {
  return decode_in_pieces(text, [&text] { return text.size(); });
}
Decoded decode_bytewise(const string& text) {
  return decode_in_pieces(text, [] { return std::size_t{1}; });
}

void expect_broken(const string& text, Rejection cause) {
  for (const Decoded& decoded : {decode(text), decode_bytewise(text)}) {
    EXPECT_EQ(decoded.state, State::broken) << text;
    EXPECT_EQ(decoded.cause, cause) << text;
  }
}

TEST(Chunked, chunk_decoder_stops_at_the_end_of_the_body) {
  const string text = "5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n";
  const Decoded decoded = decode(text + "GET / HTTP/1.1");
  EXPECT_EQ(decoded.state, State::done);
  EXPECT_EQ(decoded.body, "hello0123456789");
  EXPECT_EQ(decoded.consumed, text.size());
  EXPECT_EQ(decode_bytewise(text), decode(text));
}

TEST(Chunked, decoded_data_is_a_view_into_the_input) {
  const string text = "5\r\nhello\r\n";
  ChunkDecoder decoder;
  const ChunkDecoder::Step step = decoder.step(text);
  EXPECT_EQ(step.state, State::data);
  EXPECT_EQ(step.data.data(), text.data() + 3);
  EXPECT_EQ(step.consumed, 8U);
}

TEST(Chunked, malformed_chunk_sizes_are_rejected) {
  for (const string size : {"", " 5", "+5", "-5", "0x5", "5 ", "5\t", "g", "5g", "10000000000000005",
                            "0010000000000000005", "5\x01", "\x01"}) {
    expect_broken(size + "\r\nhello\r\n0\r\n\r\n", Rejection::bad_chunk);
  }
}

TEST(Chunked, B9_sixteen_digit_and_4_gib_chunk_sizes_are_decoded) {
  EXPECT_EQ(decode("0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n").body, "hello");
  ChunkDecoder decoder;
  string text = "100000000\r\n";  // 4 GiB
  EXPECT_EQ(decoder.step(text).state, State::more);
  const string block(1 << 20, 'x');
  for (int i = 0; i < 4096; ++i) {
    const auto step = decoder.step(block);
    ASSERT_EQ(step.state, State::data);
    ASSERT_EQ(step.data.size(), block.size());
  }
  EXPECT_EQ(decoder.step("\r\n0\r\n\r\n").state, State::done);
}

TEST(Chunked, B9_leading_zeros_of_a_size_are_skipped_up_to_the_line_limit) {
  for (const std::size_t zeros : {1U, 15U, 16U, 17U, 4000U}) {
    const string text = string(zeros, '0') + "5\r\nhello\r\n" + string(zeros, '0') + "0;a\r\n\r\n";
    const Decoded decoded = decode(text);
    EXPECT_EQ(decoded.state, State::done) << zeros;
    EXPECT_EQ(decoded.body, "hello") << zeros;
    EXPECT_EQ(decoded, decode_bytewise(text));
  }
  EXPECT_EQ(decode(string(4095, '0') + "5\r\nhello\r\n0\r\n\r\n").body, "hello");
  EXPECT_EQ(decode(string(100, '0') + "\r\n\r\n").state, State::done) << "the last chunk too";
  expect_broken(string(4096, '0') + "5\r\nhello\r\n", Rejection::bad_chunk);
  expect_broken(string(4000, '0') + "5;a=" + string(93, 'b') + "b\r\nhello\r\n", Rejection::bad_chunk);
  EXPECT_EQ(decode(string(4000, '0') + "5;a=" + string(93, 'b') + "\r\nhello\r\n0\r\n\r\n").state,
            State::done);
  ChunkDecoder wide;
  EXPECT_EQ(wide.step("00FFFFFFFFFFFFFFFF\r\nx").data, "x") << "sixteen digits behind zeros";
  string all;
  for (int i = 0; i < 4; ++i) all += string(4095, '0') + "1\r\nx\r\n";
  EXPECT_EQ(decode(all + "0\r\n\r\n").body, "xxxx");
  expect_broken(all + string(100, '0') + "\r\n\r\n", Rejection::bad_chunk);  // row A6
}

Decoded decode_tolerantly(const string& text, std::size_t piece) {
  ChunkDecoder decoder(Spelling::tolerant);
  Decoded decoded;
  while (decoded.consumed < text.size() && decoded.state != State::done && decoded.state != State::broken) {
    const ChunkDecoder::Step step = decoder.step(std::string_view(text).substr(decoded.consumed, piece));
    decoded.state = step.state;
    decoded.consumed += step.consumed;
    decoded.body += step.data;
    if (step.state == State::broken) decoded.cause = step.cause;
  }
  decoded.trailers = decoder.trailers();
  return decoded;
}

TEST(Chunked, lenient_trailers_are_normalized) {
  const std::pair<string, string> cases[] = {{"\n", ""},
                                             {"X: 1\n\n", "X: 1\r\n"},
                                             {"X: 1\nY: 2\r\n\n", "X: 1\r\nY: 2\r\n"},
                                             {"X: 1 \r\n\t 2\nY: 3\n\r\n", "X: 1 2\r\nY: 3\r\n"},
                                             {"X: 1\n \n 2\n\n", "X: 1 2\r\n"},
                                             {"X:\n 2\n\n", "X: 2\r\n"},
                                             {"Host: a\n b\nX: 1\n\n", "X: 1\r\n"},
                                             {"X: 1\nHost: a\n b\n\n", "X: 1\r\n"}};
  for (const auto& [section, trailers] : cases) {
    const string text = "2\r\nab\r\n0\r\n" + section;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()}) {
      const Decoded decoded = decode_tolerantly(text, piece);
      EXPECT_EQ(decoded.state, State::done) << section;
      EXPECT_EQ(decoded.trailers, trailers) << section;
      EXPECT_EQ(decoded.consumed, text.size()) << section;
    }
    EXPECT_EQ(decode(text).state, State::broken) << "never in a request: " << section;
  }
  for (const string section : {" X: 1\n\n", "X: 1\n \x01\n\n", "X: 1\n a\rb\n\n", "X\n\n", "X: 1\r\r\n\n"}) {
    EXPECT_EQ(decode_tolerantly("0\r\n" + section, 100).cause, Rejection::bad_trailer) << section;
  }
}

void expect_read_of_responses_alone(const string& text) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()}) {
    const Decoded decoded = decode_tolerantly(text, piece);
    EXPECT_EQ(decoded.state, State::done) << text;
    EXPECT_EQ(decoded.body, "hello") << text;
    EXPECT_EQ(decoded.consumed, text.size()) << text;
  }
  EXPECT_EQ(decode(text).state, State::broken) << "requests stay strict: " << text;
}

TEST(Chunked, blanks_after_a_chunk_size_are_accepted_only_in_responses) {
  for (const string text :
       {"5  \r\nhello\r\n0\r\n\r\n", "5\t\r\nhello\r\n0 \t \r\n\r\n", "5;a=b \r\nhello\r\n0\r\n\r\n",
        "5 ; a \r\nhello\r\n0 \r\n\r\n", "2 \nhe\r\n3\r\nllo\r\n0\r\n\r\n"})
    expect_read_of_responses_alone(text);
  for (const string text : {"5 5\r\nhello", " 5\r\nhello", "5;\r\nhello", "5; \r\nhello", "5 a\r\nhello",
                            " \r\n", "5\v\r\nhello"}) {
    EXPECT_EQ(decode_tolerantly(text, 100).cause, Rejection::bad_chunk) << text;
  }
  EXPECT_EQ(decode_tolerantly("1" + string(20'000, ' '), 100).cause, Rejection::bad_chunk) << "row A6";
}

TEST(Chunked, N25_bare_lf_line_ends_are_accepted_only_in_responses) {
  for (const string text :
       {"5\nhello\r\n0\r\n\r\n", "5;a\nhello\r\n0\n\r\n", "5\nhello\n0\n\n", "2\nhe\n3\nllo\n0\nX: 1\n\n"})
    expect_read_of_responses_alone(text);
  for (const string text :
       {"\n5\nhello\n", "5\nhello\n\n0\n\n", "5\n\nhello\n", "5\r\r\nhello", "5\nhello\n\r0"}) {
    EXPECT_EQ(decode_tolerantly(text, 100).cause, Rejection::bad_chunk) << text;
  }
  // The chunk size is one higher than the number of data bytes, so it would include the CR or LF after the
  // data.
  for (const string text : {"5\r\nhell\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n"})
    EXPECT_EQ(decode_tolerantly(text, 100).cause, Rejection::bad_chunk) << text;
}

TEST(Chunked, chunk_decoder_is_strict_after_a_reset_without_an_argument) {
  ChunkDecoder decoder(Spelling::tolerant);
  EXPECT_EQ(decoder.step("0\r\nX: 1\n\n").state, State::done);
  decoder.reset();
  EXPECT_EQ(decoder.step("0\r\nX: 1\n\n").state, State::broken);
  decoder.reset(Spelling::tolerant);
  EXPECT_EQ(decoder.step("0\r\nX: 1\n").state, State::more);
  decoder.reset(Spelling::tolerant);
  EXPECT_EQ(decoder.step("0\r\n y\n").state, State::broken) << "there is no field before it";
}

TEST(Chunked, A4_strict_decoder_rejects_line_ends_other_than_crlf) {
  for (const string text :
       {"5\nhello\r\n0\r\n\r\n", "5\rXhello\r\n", "5\r\rhello", "5\r\nhelloX", "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\rX", "5\r\nhelloXX0\r\n\r\n", "5;a\nhello\r\n", "5;a\rb\r\nhello\r\n"}) {
    expect_broken(text, Rejection::bad_chunk);
  }
}

TEST(Chunked, A5_valid_chunk_extensions_are_skipped_and_malformed_ones_rejected) {
  for (const string extension :
       {";a", ";a=b", ";a=\"b c\"", ";a=\"\\\"\"", " ; a = b ; c", ";a;b", "\t;a=\"\xc3\xa9;\t\""}) {
    const Decoded decoded = decode("5" + extension + "\r\nhello\r\n0" + extension + "\r\n\r\n");
    EXPECT_EQ(decoded.state, State::done) << extension;
    EXPECT_EQ(decoded.body, "hello") << extension;
  }
  for (const string& extension :
       {";"s, ";=b"s, ";a="s, ";a b"s, ";a=\"b"s, ";a=\"b\"c"s, ";a=\"\r\n\""s, ";a=\"\n\""s, ";a=\"\\"s,
        ";(a)"s, ";a\0"s, ";a\x7f"s, ";;a"s, " a"s, ";a "s}) {
    expect_broken("5" + extension + "\r\nhello\r\n0\r\n\r\n", Rejection::bad_chunk);
  }
  expect_broken("5;a=" + string(4096, 'b') + "\r\n", Rejection::bad_chunk);
}

TEST(Chunked, A6_padding_overhead_is_limited_in_relation_to_the_content) {
  // Any number of one-byte chunks without padding is accepted.
  string tiny;
  for (int i = 0; i < 100000; ++i) tiny += "1\r\nx\r\n";
  EXPECT_EQ(decode(tiny + "0\r\n\r\n").body.size(), 100000U);
  string padded;
  for (int i = 0; i < 20; ++i) padded += "1;a=" + string(1000, 'b') + "\r\nx\r\n";
  expect_broken(padded, Rejection::bad_chunk);
  string zeros;
  for (int i = 0; i < 2000; ++i) zeros += "0000000000000001\r\nx\r\n";
  expect_broken(zeros, Rejection::bad_chunk);
}

TEST(Chunked, A6_overhead_limit_is_exact_to_the_byte) {
  // The allowance for chunk overhead grows with the content. A one-byte chunk without padding uses exactly as
  // much of the allowance as its content adds.
  string start;
  for (int i = 0; i < 50; ++i) start += "1\r\nx\r\n";
  for (int i = 0; i < 3; ++i) start += "1;a=" + string(4093, 'b') + "\r\nx\r\n";
  const string whole = start + "1;a=" + string(4092, 'b') + "\r\nx\r\n0\r\n\r\n";
  EXPECT_EQ(decode(whole).state, State::done);
  EXPECT_EQ(decode_bytewise(whole), decode(whole));
  expect_broken(start + "1;a=" + string(4093, 'b') + "\r\nx\r\n0\r\n\r\n", Rejection::bad_chunk);
}

// Decoding all chunks in one call must give the same result as decoding byte by byte, even after the
// allowance for chunk overhead is used up.
TEST(Chunked, A6_small_chunks_without_padding_are_accepted_even_after_the_overhead_allowance_is_used_up) {
  string spent;
  for (int i = 0; i < 3; ++i) spent += "1;a=" + string(4093, 'b') + "\r\nx\r\n";
  spent += "1;a=" + string(4092, 'b') + "\r\nx\r\n";
  string small;
  for (int i = 0; i < 1000; ++i) small += "1\r\nx\r\n";
  const string whole = spent + small + "0\r\n\r\n";
  EXPECT_EQ(decode(whole).body.size(), 1004U);
  EXPECT_EQ(decode_bytewise(whole), decode(whole));
  expect_broken(spent + small + "01\r\nx\r\n", Rejection::bad_chunk);
}

TEST(Chunked, trailers_that_are_not_allowed_are_removed) {
  const Decoded decoded = decode(
      "0\r\nX-Sum: 1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: h\r\nAuthorization: x\r\n"
      "Cookie: c\r\nSet-Cookie: c\r\nConnection: close\r\nTrailer: y\r\nProxy-Authorization: "
      "z\r\ngrpc-status:0\r\n"
      "Content-Type: a/b\r\nExpires: 0\r\nEmpty:\r\n\r\n");
  EXPECT_EQ(decoded.state, State::done);
  EXPECT_EQ(decoded.trailers, "X-Sum: 1\r\ngrpc-status:0\r\nEmpty:\r\n");
}

TEST(Chunked, A7_malformed_trailer_lines_are_rejected) {
  for (const string& text : {"0\r\nX: y\n\r\n"s, "0\r\n\n"s, "0\r\nno colon\r\n\r\n"s, "0\r\n: v\r\n\r\n"s,
                             "0\r\nX : v\r\n\r\n"s, "0\r\nX: a\r\n b\r\n\r\n"s, "0\r\nX: \x01\r\n\r\n"s,
                             "0\r\nX: a\rb\r\n\r\n"s, "0\r\nX: \0\r\n\r\n"s}) {
    expect_broken(text, Rejection::bad_trailer);
  }
  EXPECT_EQ(decode("0\r\nX: y\r\n").state, State::more);
  EXPECT_EQ(decode("0\r\n").state, State::more);
}

TEST(Chunked, trailers_over_the_size_limit_are_rejected) {
  expect_broken("0\r\nX: " + string(8192, 'a') + "\r\n\r\n", Rejection::bad_trailer);
  string many = "0\r\n";
  for (int i = 0; i < 1000; ++i) many += "Cookie: c\r\n";
  expect_broken(many + "\r\n", Rejection::bad_trailer);
  EXPECT_EQ(decode("0\r\nX: " + string(8000, 'a') + "\r\n\r\n").state, State::done);
}

TEST(Chunked, chunk_decoder_stays_broken_or_done_until_it_is_reset) {
  ChunkDecoder decoder;
  EXPECT_EQ(decoder.step("x").state, State::broken);
  EXPECT_EQ(decoder.step("0\r\n\r\n").state, State::broken);
  decoder.reset();
  EXPECT_EQ(decoder.step("0\r\nA: b\r\n\r\n").state, State::done);
  EXPECT_EQ(decoder.step("0\r\n").consumed, 0U);
  EXPECT_EQ(decoder.trailers(), "A: b\r\n");
  decoder.reset();
  EXPECT_EQ(decoder.trailers(), "");
}

TEST(Chunked, chunks_written_by_the_encoder_are_decoded_to_the_same_body) {
  string text;
  write_chunk_size(31, text);
  EXPECT_EQ(text, "1f\r\n");
  text += string(31, 'x') + "\r\n";
  write_last_chunk("A: b\r\n", text);
  const Decoded decoded = decode(text);
  EXPECT_EQ(decoded.state, State::done);
  EXPECT_EQ(decoded.body, string(31, 'x'));
  EXPECT_EQ(decoded.trailers, "A: b\r\n");
}

/// Returns a body of random chunks, extensions and trailers. One byte is damaged in every other body.
string random_body(play::Chance& random) {
  const auto below = [&random](unsigned limit) { return static_cast<unsigned>(random.below(limit)); };
  string text;
  for (unsigned chunks = below(6); chunks > 0; --chunks) {
    const unsigned size = below(40) + 1;
    write_chunk_size(size, text);
    if (below(3) == 0) text.insert(text.size() - 2, ";n=\"a b\"");
    text += string(size, static_cast<char>('a' + below(26))) + "\r\n";
  }
  write_last_chunk(below(2) == 0 ? "" : "X-Sum: 1\r\nHost: h\r\n", text);
  if (below(2) == 0) text[below(static_cast<unsigned>(text.size()))] = static_cast<char>(below(256));
  return text + "NEXT";
}

TEST(Chunked, decoding_result_does_not_depend_on_input_splits) {
  play::Chance random(20240607);
  unsigned whole_bodies = 0;
  for (int round = 0; round < 5000; ++round) {
    const string text = random_body(random);
    const Decoded whole = decode(text);
    const Decoded split = decode_in_pieces(text, [&random] { return std::size_t{random.below(7) + 1}; });
    ASSERT_EQ(split.state, whole.state) << text;
    ASSERT_EQ(split.body, whole.body) << text;
    ASSERT_EQ(split.trailers, whole.trailers) << text;
    ASSERT_EQ(split.cause, whole.cause) << text;
    if (whole.state == State::done) {
      ASSERT_EQ(split.consumed, whole.consumed) << text;
      ++whole_bodies;
    }
  }
  EXPECT_GT(whole_bodies, 2000U);
}

}  // namespace
}  // namespace reprise::http
