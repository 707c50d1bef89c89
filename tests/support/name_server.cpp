#include "tests/support/name_server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/loopback_address.hpp"

namespace reprise::play {
namespace {

constexpr std::size_t head_bytes = 12;
constexpr unsigned a_record = 1, alias_record = 5, aaaa_record = 28;

/// Binds both sockets to the same port, and listens for TCP. Returns false if that fails.
bool bind_both(int udp, int tcp, std::uint16_t& port) {
  const sockaddr any = loopback_address(0);
  if (::bind(tcp, &any, sizeof any) != 0) return false;
  port = port_of(tcp);
  const sockaddr same = loopback_address(port);
  return ::bind(udp, &same, sizeof same) == 0 && ::listen(tcp, 16) == 0;
}

void put(std::string& text, std::uint32_t number, int bytes) {
  while (bytes-- > 0) text.push_back(static_cast<char>(number >> (8 * static_cast<unsigned>(bytes)) & 0xFFU));
}

std::string encoded(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    put(text, static_cast<std::uint32_t>(end), 1);
    text.append(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return text.append(1, '\0');
}

std::string record(std::string_view name, unsigned kind, std::uint32_t ttl, std::string_view content) {
  std::string text = encoded(name);
  put(text, kind, 2);
  put(text, 1, 2);
  put(text, ttl, 4);
  put(text, static_cast<std::uint32_t>(content.size()), 2);
  return text.append(content);
}

}  // namespace

NameServer::NameServer() : end_(::eventfd(0, EFD_CLOEXEC)) {
  for (int i = 0; i < 50; ++i) {
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Size of the receive buffer in bytes: enough for hundreds of queries at once.
    const int room = 4 << 20;
    if (::setsockopt(udp_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
      ::setsockopt(udp_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (bind_both(udp_, tcp_, port_)) {
      thread_ = std::thread([this] { serve(); });
      return;
    }
    ::close(udp_);
    ::close(tcp_);
  }
  throw std::runtime_error("no port for a name server");
}

NameServer::~NameServer() {
  ::eventfd_write(end_, 1);
  thread_.join();
  for (const int descriptor : {udp_, tcp_, end_}) ::close(descriptor);
}

void NameServer::set(const std::string& name, std::vector<NameResponse> responses) {
  const std::scoped_lock lock(mutex_);
  script_[name] = std::move(responses);
  asked_[name] = 0;
}

int NameServer::asked(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  return asked_[name];
}

void NameServer::serve() {
  for (;;) {
    pollfd all[] = {{end_, POLLIN, 0}, {udp_, POLLIN, 0}, {tcp_, POLLIN, 0}};
    ::poll(all, 3, -1);
    if (all[0].revents != 0) return;
    if (all[2].revents != 0) serve_tcp();
    if (all[1].revents == 0) continue;
    char room[512];
    sockaddr_in sender{};
    socklen_t bytes = sizeof sender;
    auto* address = reinterpret_cast<sockaddr*>(&sender);
    const ssize_t got = ::recvfrom(udp_, room, sizeof room, 0, address, &bytes);
    if (got <= static_cast<ssize_t>(head_bytes)) continue;
    const std::string response = response_to({room, static_cast<std::size_t>(got)}, true);
    if (!response.empty()) ::sendto(udp_, response.data(), response.size(), 0, address, bytes);
  }
}

void NameServer::serve_tcp() {
  const int client = ::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC);
  char room[514];
  ssize_t got = ::recv(client, room, 2, MSG_WAITALL);
  while (got == 2) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(room[1]));
    if (::recv(client, room, size, MSG_WAITALL) != static_cast<ssize_t>(size)) break;
    const std::string response = response_to({room, size}, false);
    std::string framed;
    put(framed, static_cast<std::uint32_t>(response.size()), 2);
    framed.append(response);
    if (::send(client, framed.data(), framed.size(), MSG_NOSIGNAL) < 0) break;
    got = ::recv(client, room, 2, MSG_WAITALL);
  }
  ::close(client);
}

std::string NameServer::response_to(std::string_view question, bool is_udp) {
  std::string name;
  std::size_t at = head_bytes;
  while (question[at] != 0) {
    if (!name.empty()) name.push_back('.');
    name.append(question.substr(at + 1, static_cast<std::size_t>(question[at])));
    at += 1 + static_cast<std::size_t>(question[at]);
  }
  const auto kind = static_cast<unsigned char>(question[at + 2]);
  NameResponse said;
  said.code = 3;
  {
    const std::scoped_lock lock(mutex_);
    int& count = asked_[name];
    const auto known = script_.find(name);
    if (known != script_.end())
      said = known->second[std::min(static_cast<std::size_t>(count), known->second.size() - 1)];
    if (kind == a_record) ++count;
  }
  if (said.silent || (said.tcp_only && is_udp)) return {};
  if (kind == aaaa_record && said.ipv6_code != 0) said.code = said.ipv6_code;
  const bool cut = said.truncated && is_udp;
  std::string records;
  std::uint32_t count = 0;
  const std::string owner = said.alias.empty() ? name : said.alias;
  if (!said.alias.empty() && !cut) {
    records += record(name, alias_record, said.ttl, encoded(said.alias));
    ++count;
  }
  for (const std::string& address : said.addresses) {
    const bool is_v6 = address.find(':') != std::string::npos;
    if (cut || kind != (is_v6 ? aaaa_record : a_record)) continue;
    char bytes[16];
    ::inet_pton(is_v6 ? AF_INET6 : AF_INET, address.c_str(), bytes);
    records += record(owner, kind, said.ttl, {bytes, is_v6 ? 16U : 4U});
    ++count;
  }
  std::string text(question.substr(0, 2));
  put(text, 0x8180U | static_cast<std::uint32_t>(said.code) | (cut ? 0x0200U : 0U), 2);
  put(text, 1, 2);
  put(text, count, 2);
  put(text, 0, 4);
  return text.append(question.substr(head_bytes, at + 5 - head_bytes)).append(records);
}

}  // namespace reprise::play
