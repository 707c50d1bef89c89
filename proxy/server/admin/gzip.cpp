#include "proxy/server/admin/gzip.hpp"

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>
#include <cstdint>

namespace reprise::server {
namespace {

namespace zlib = boost::beast::zlib;

// The gzip header: deflate, no name, no time, unknown operating system (RFC 1952 2.3).
constexpr std::string_view header("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

void append_little_endian(std::string& out, std::uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xffU);
}

}  // namespace

std::string gzip(std::string_view text) {
  constexpr int level = 6;
  constexpr int window_bits = 15;
  constexpr int memory_level = 8;
  zlib::deflate_stream stream;
  stream.reset(level, window_bits, memory_level, zlib::Strategy::normal);
  std::string out(header);
  out.resize(header.size() + stream.upper_bound(text.size()));
  zlib::z_params step;
  step.next_in = text.data();
  step.avail_in = text.size();
  step.next_out = out.data() + header.size();
  step.avail_out = out.size() - header.size();
  boost::beast::error_code ended;
  stream.write(step, zlib::Flush::finish, ended);
  out.resize(header.size() + step.total_out);
  boost::crc_32_type sum;
  sum.process_bytes(text.data(), text.size());
  append_little_endian(out, sum.checksum());
  append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  return out;
}

}  // namespace reprise::server
