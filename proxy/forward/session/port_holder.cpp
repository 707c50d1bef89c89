#include "proxy/forward/session/port_holder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace reprise::forward {
namespace {

namespace fs = std::filesystem;

/// A listening socket, from a line of /proc/net/tcp.
struct Holder {
  std::string inode;
  std::string user;
};

// Formats an address as in /proc/net/tcp: each 32-bit word in memory order, as eight hex digits.
std::string hex_of(const asio::ip::address& address) {
  std::vector<unsigned char> bytes;
  if (address.is_v4()) {
    const auto plain = address.to_v4().to_bytes();
    bytes.assign(plain.begin(), plain.end());
  } else {
    const auto plain = address.to_v6().to_bytes();
    bytes.assign(plain.begin(), plain.end());
  }
  std::string text;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof(word));
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (unsigned shift = 32; shift > 0;) text.push_back(digits[(word >> (shift -= 4)) & 15U]);
  }
  return text;
}

std::string port_text(std::uint16_t port) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (unsigned shift = 16; shift > 0;) text.push_back(digits[(port >> (shift -= 4)) & 15U]);
  return text;
}

/// Returns true if a listener at `local` prevents binding `wanted`. `local` is an address as in
/// /proc/net/tcp, for example `0100007F:0C39`.
bool is_in_the_way(const std::string& local, const tcp::endpoint& wanted) {
  const std::size_t colon = local.find(':');
  if (colon == std::string::npos || local.substr(colon + 1) != port_text(wanted.port())) return false;
  const std::string address = local.substr(0, colon);
  const bool is_any = address.find_first_not_of('0') == std::string::npos;
  return is_any || wanted.address().is_unspecified() || address == hex_of(wanted.address());
}

std::vector<Holder> listeners_in(const std::string& table, const tcp::endpoint& wanted) {
  constexpr std::string_view listens = "0A";
  std::vector<Holder> found;
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    if (state == listens && is_in_the_way(local, wanted)) found.push_back({inode, user});
  }
  return found;
}

bool has_socket(const fs::path& process, const std::string& inode) {
  const std::string wanted = "socket:[" + inode + "]";
  std::error_code hidden;
  for (fs::directory_iterator each(process / "fd", hidden), end; !hidden && each != end;
       each.increment(hidden)) {
    std::error_code gone;
    if (fs::read_symlink(each->path(), gone) == wanted) return true;
  }
  return false;
}

std::string command_of(const fs::path& process) {
  constexpr std::size_t longest = 120;
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::string text(longest, '\0');
  file.read(text.data(), longest);
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (text.ends_with('\0')) text.pop_back();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace(text.begin(), text.end(), '\0', ' ');
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::string process_with(const std::string& proc, const std::string& inode) {
  std::error_code hidden;
  for (fs::directory_iterator each(proc, hidden), end; !hidden && each != end; each.increment(hidden)) {
    const std::string pid = each->path().filename();
    if (!is_number(pid) || !has_socket(each->path(), inode)) continue;
    const std::string command = command_of(each->path());
    return "pid " + pid + (command.empty() ? "" : ": " + command);
  }
  return {};
}

}  // namespace

std::string holder_of(const tcp::endpoint& wanted, const std::string& proc) {
  std::string user;
  for (const char* const table : {"/net/tcp", "/net/tcp6"}) {
    for (const Holder& holder : listeners_in(proc + table, wanted)) {
      if (std::string process = process_with(proc, holder.inode); !process.empty()) return process;
      user = holder.user;
    }
  }
  return user.empty() ? user : "a process of user " + user;
}

}  // namespace reprise::forward
