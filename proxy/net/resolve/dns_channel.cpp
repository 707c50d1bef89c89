#include "proxy/net/resolve/dns_channel.hpp"

#include <ares.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace reprise::net {
namespace {

using std::chrono::milliseconds;

// Initialises c-ares once per process. Never cleans it up, because c-ares holds nothing to release.
bool library_is_ready() {
  static const bool ready = ::ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return ready;
}

DnsChannel::End end_of(int status) {
  switch (status) {
    case ARES_SUCCESS: return DnsChannel::End::found;
    case ARES_EDESTRUCTION:
    case ARES_ECANCELLED: return DnsChannel::End::abandoned;
    case ARES_ETIMEOUT: return DnsChannel::End::timed_out;
    case ARES_ECONNREFUSED:
    case ARES_ENOMEM:
    case ARES_EFILE: return DnsChannel::End::failed;
    default: return DnsChannel::End::unknown;
  }
}

ssize_t send_pieces(int socket, const iovec* pieces, int count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = static_cast<std::size_t>(count);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

// The kernel reports an ICMP rejection of a datagram only once: to the next send or to the next read. If it
// is reported to a send, c-ares 1.18 ends only the question of that send, and the previous question waits for
// its whole timeout. Sending the datagram again causes a second rejection, which a read then reports for both
// questions.
ares_ssize_t send_question(ares_socket_t socket, const iovec* pieces, int count, void* /*unused*/) {
  const ssize_t sent = send_pieces(socket, pieces, count);
  int type = 0;
  socklen_t size = sizeof type;
  const bool refused = sent < 0 && errno == ECONNREFUSED;
  if (!refused || ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_DGRAM)
    return sent;
  return send_pieces(socket, pieces, count);
}

// All functions except `send_question` do what c-ares does by default.
constexpr ares_socket_functions socket_functions{
    [](int family, int type, int protocol, void* /*unused*/) {
      const int socket = ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
      const int yes = 1;
      if (type == SOCK_STREAM) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return socket;
    },
    [](ares_socket_t socket, void* /*unused*/) { return ::close(socket); },
    [](ares_socket_t socket, const sockaddr* address, ares_socklen_t bytes, void* /*unused*/) {
      return ::connect(socket, address, bytes);
    },
    [](ares_socket_t socket, void* data, std::size_t bytes, int flags, sockaddr* sender,
       ares_socklen_t* sender_bytes, void* /*unused*/) -> ares_ssize_t {
      return ::recvfrom(socket, data, bytes, flags, sender, sender_bytes);
    },
    &send_question};

asio::ip::address address_of(const ares_addrinfo_node& node) {
  tcp::endpoint endpoint;
  std::memcpy(endpoint.data(), node.ai_addr, node.ai_addrlen);
  endpoint.resize(node.ai_addrlen);
  return endpoint.address();
}

// Returns the addresses and how long they may be cached: the shortest TTL of all records, including aliases.
Found found_in(const ares_addrinfo& response, bool has_ttl) {
  Found found;
  const auto keep = [&](int ttl) {
    if (has_ttl) found.keep = std::min<Duration>(found.keep, std::chrono::seconds(std::max(ttl, 0)));
  };
  for (const auto* alias = response.cnames; alias != nullptr; alias = alias->next) keep(alias->ttl);
  for (const auto* node = response.nodes; node != nullptr; node = node->ai_next) {
    if (node->ai_addrlen > tcp::endpoint().capacity()) continue;
    keep(node->ai_ttl);
    const asio::ip::address address = address_of(*node);
    if (std::find(found.list.begin(), found.list.end(), address) == found.list.end())
      found.list.push_back(address);
  }
  return found;
}

}  // namespace

struct DnsChannel::Asked {
  DnsChannel& channel;
  Done done;
};

std::unique_ptr<DnsChannel> DnsChannel::open(const NameFiles& files, const LookupOptions& lookup_options,
                                             char source) {
  std::unique_ptr<DnsChannel> channel(new DnsChannel);
  if (!library_is_ready() || !channel->init(files, lookup_options, source)) return nullptr;
  channel->read_search_list();
  return channel;
}

// Turns off the search list of c-ares, because `names_to_ask` decides which names are asked for. c-ares would
// try the next search domain only if a name does not exist. The C library also tries the next domain if a
// server has no address for the name, or fails.
bool DnsChannel::init(const NameFiles& files, const LookupOptions& lookup_options, char source) {
  has_ttl_ = source == 'b';
  ipv4_only_ = has_ttl_ && lookup_options.ipv4_only;
  std::string resolv = files.resolv;
  char sources[] = {source, '\0'};
  ares_options options{};
  // If there is only one name server, its SERVFAIL counts as a response, because a retry of the HTTP request
  // asks again.
  options.flags = ARES_FLAG_NOSEARCH | (lookup_options.one_server ? ARES_FLAG_NOCHECKRESP : 0) |
                  (lookup_options.over_tcp ? ARES_FLAG_USEVC : 0);
  options.timeout = static_cast<int>(lookup_options.first.count());
  options.tries = lookup_options.rounds;
  options.udp_port = options.tcp_port = files.port;
  options.lookups = sources;
  options.sock_state_cb = &DnsChannel::watch_socket;
  options.sock_state_cb_data = this;
  options.resolvconf_path = resolv.data();
  const int given = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_UDP_PORT |
                    ARES_OPT_TCP_PORT | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF;
  if (::ares_init_options(&channel_, &options, given) != ARES_SUCCESS) return false;
    // `ares_set_socket_functions` is deprecated, but its replacement came with c-ares 1.34, which Debian 12
    // and Ubuntu 24.04 do not have.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  ::ares_set_socket_functions(channel_, &socket_functions, nullptr);
#pragma GCC diagnostic pop
  return true;
}

void DnsChannel::read_search_list() {
  ares_options options{};
  int given = 0;
  if (::ares_save_options(channel_, &options, &given) != ARES_SUCCESS) return;
  domains_.assign(options.domains, options.domains + std::max(options.ndomains, 0));
  ndots_ = options.ndots;
  ::ares_destroy_options(&options);
}

DnsChannel::~DnsChannel() {
  if (channel_ != nullptr) ::ares_destroy(channel_);
}

void DnsChannel::ask(const std::string& name, Done done) {
  ++taken_;
  ++under_way_;
  ares_addrinfo_hints wanted{};
  wanted.ai_family = ipv4_only_ ? AF_INET : AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  auto asked = std::make_unique<Asked>(Asked{*this, std::move(done)});
  ::ares_getaddrinfo(channel_, name.c_str(), nullptr, &wanted, &DnsChannel::take_response, asked.release());
}

// This function is called by C code, so an exception ends the process.
void DnsChannel::take_response(void* given, int status, int /*timeouts*/, ares_addrinfo* response) {
  const std::unique_ptr<Asked> asked(static_cast<Asked*>(given));
  const std::unique_ptr<ares_addrinfo, decltype(&::ares_freeaddrinfo)> owned(response, &::ares_freeaddrinfo);
  --asked->channel.under_way_;
  End end = end_of(status);
  Found found;
  if (end == End::found && response != nullptr) found = found_in(*response, asked->channel.has_ttl_);
  // If /etc/hosts does not have the name, `status` keeps the initial value of c-ares, which is not
  // ARES_ENOTFOUND.
  const bool is_of_file = !asked->channel.has_ttl_;
  if ((end == End::found || is_of_file) && found.list.empty()) end = End::unknown;
  found.is_unknown = end == End::unknown && (is_of_file || status == ARES_ENOTFOUND);
  asked->done(end, std::move(found));
}

void DnsChannel::watch_socket(void* self, int socket, int reads, int writes) {
  auto& sockets = static_cast<DnsChannel*>(self)->sockets_;
  std::erase_if(sockets, [&](const pollfd& each) { return each.fd == socket; });
  const int events = (reads != 0 ? POLLIN : 0) | (writes != 0 ? POLLOUT : 0);
  if (events != 0) sockets.push_back({socket, static_cast<short>(events), 0});
}

void DnsChannel::add_sockets_to(std::vector<pollfd>& all) const {
  all.insert(all.end(), sockets_.begin(), sockets_.end());
}

std::optional<milliseconds> DnsChannel::quiet() const {
  timeval room{};
  const timeval* left = ::ares_timeout(channel_, nullptr, &room);
  if (left == nullptr) return std::nullopt;
  return std::chrono::ceil<milliseconds>(std::chrono::seconds(left->tv_sec) +
                                         std::chrono::microseconds(left->tv_usec));
}

void DnsChannel::turn(const std::vector<pollfd>& ready) {
  const std::vector<pollfd> own = sockets_;
  for (const pollfd& each : ready) {
    const bool is_own =
        std::any_of(own.begin(), own.end(), [&](const pollfd& socket) { return socket.fd == each.fd; });
    if (!is_own || each.revents == 0) continue;
    const bool writes = (each.revents & POLLOUT) != 0;
    const bool reads = (each.revents & ~POLLOUT) != 0;
    ::ares_process_fd(channel_, reads ? each.fd : ARES_SOCKET_BAD, writes ? each.fd : ARES_SOCKET_BAD);
  }
  ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

}  // namespace reprise::net
