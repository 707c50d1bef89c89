#include "proxy/net/tls/tls_socket.hpp"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace reprise::net {
namespace {

TlsSocketErrors& socket_of(BIO* bio) { return *static_cast<TlsSocketErrors*>(BIO_get_data(bio)); }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Reports an error of the link that TLS runs over to OpenSSL, in the same form as a failed system call on a
// socket.
int report_result(BIO* bio, TlsSocketErrors& socket, const ErrorCode& error, bool reading) {
  if (error == asio::error::would_block) {
    reading ? BIO_set_retry_read(bio) : BIO_set_retry_write(bio);
  } else if (reading && error == asio::error::eof) {
    socket.fin = true;
  } else if (socket.code == 0) {
    // If the link that TLS runs over reports a TLS error, that error has no errno.
    socket.code = error.category() == boost::system::system_category() ? error.value() : ECONNRESET;
  }
  return 0;
}

int write_to_link(BIO* bio, TlsSocketErrors& socket, const char* bytes, std::size_t count,
                  std::size_t* written) {
  const std::array<asio::const_buffer, 1> piece{asio::buffer(bytes, count)};
  ErrorCode error;
  *written = socket.below->write_some(piece, error);
  return *written > 0
             ? 1
             : report_result(bio, socket, error ? error : ErrorCode(asio::error::would_block), false);
}

int read_from_link(BIO* bio, TlsSocketErrors& socket, char* bytes, std::size_t room, std::size_t* read) {
  ErrorCode error;
  *read = socket.below->read_now(asio::buffer(bytes, room), error);
  return *read > 0 ? 1 : report_result(bio, socket, error, true);
}

int write_to_socket(BIO* bio, const char* bytes, std::size_t count, std::size_t* written) {
  TlsSocketErrors& socket = socket_of(bio);
  BIO_clear_retry_flags(bio);
  if (socket.below != nullptr) return write_to_link(bio, socket, bytes, count, written);
  ssize_t sent = 0;
  do {
    sent = ::send(socket.descriptor, bytes, count, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    *written = static_cast<std::size_t>(sent);
    return 1;
  }
  if (would_block(errno)) {
    BIO_set_retry_write(bio);
  } else if (socket.code == 0) {
    socket.code = errno;
  }
  return 0;
}

int read_from_socket(BIO* bio, char* bytes, std::size_t room, std::size_t* read) {
  TlsSocketErrors& socket = socket_of(bio);
  BIO_clear_retry_flags(bio);
  if (const std::size_t left = socket.before.size() - socket.taken; left > 0) {
    *read = std::min(room, left);
    std::memcpy(bytes, socket.before.data() + socket.taken, *read);
    socket.taken += *read;
    if (socket.taken == socket.before.size()) socket.before = {}, socket.taken = 0;
    return 1;
  }
  if (socket.below != nullptr) return read_from_link(bio, socket, bytes, room, read);
  ssize_t got = 0;
  do {
    got = ::recv(socket.descriptor, bytes, room, 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    *read = static_cast<std::size_t>(got);
    return 1;
  }
  if (got == 0) {
    socket.fin = true;
  } else if (would_block(errno)) {
    BIO_set_retry_read(bio);
  } else if (socket.code == 0) {
    socket.code = errno;
  }
  return 0;
}

long control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return socket_of(bio).fin ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

// Returns the methods of the BIO, which are created once per process.
const BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_write_ex(made, write_to_socket);
    BIO_meth_set_read_ex(made, read_from_socket);
    BIO_meth_set_ctrl(made, control);
    BIO_meth_set_create(made, create);
    return made;
  }();
  return method;
}

}  // namespace

void attach_socket(SSL* connection, TlsSocketErrors& socket) {
  BIO* const bio = BIO_new(socket_method());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &socket);
  SSL_set_bio(connection, bio, bio);
}

}  // namespace reprise::net
