// The origin of the benchmark: one thread, epoll, answers made
// beforehand, so that it costs as little as an origin can.
//
//   upstream PORT
//
// GET and POST on / (13 bytes), /10k, /1m, /64m, and /flaky, whose every tenth answer is a 503. Takes targets
// in origin-form and in absolute-form and bodies with a Content-Length. Listens on loopback alone.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { head_size = 16384, small_body = 10240 };

// An answer: a text that is there whole, and a number of bytes behind it.
struct answer {
  char text[head_size];
  int64_t length;
  int64_t padding;
};

struct connection {
  int fd;
  int held;      // bytes in head
  int64_t body;  // bytes of the request's body that are still to come
  const char* text;
  int64_t text_left;
  int64_t padding_left;
  char head[head_size];
};

enum outcome { done, blocked, broken };

static struct answer small, ten_kib, one_mib, big, busy;
static char padding[1 << 18];
static uint64_t flaky_requests;

static void prepare(struct answer* answer, const char* status, const char* body, int64_t length) {
  answer->length =
      snprintf(answer->text, sizeof answer->text,
               "HTTP/1.1 %s\r\nServer: bench\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
               "Content-Type: text/plain\r\nContent-Length: %lld\r\nConnection: keep-alive\r\n\r\n",
               status, (long long)length);
  if (length <= small_body) {
    for (int64_t i = 0; i < length; ++i) answer->text[answer->length++] = body[(size_t)i % strlen(body)];
  } else {
    answer->padding = length;
  }
}

static struct answer* answer_to(char* target) {
  if (strncmp(target, "http://", 7) == 0) target += 7 + strcspn(target + 7, "/ ");
  if (strncmp(target, "/10k", 4) == 0) return &ten_kib;
  if (strncmp(target, "/1m", 3) == 0) return &one_mib;
  if (strncmp(target, "/64m", 4) == 0) return &big;
  if (strncmp(target, "/flaky", 6) == 0 && ++flaky_requests % 10 == 0) return &busy;
  return &small;
}

static enum outcome write_answer(struct connection* connection) {
  while (connection->text_left > 0 || connection->padding_left > 0) {
    ssize_t sent;
    if (connection->text_left > 0) {
      const int more = connection->padding_left > 0 ? MSG_MORE : 0;
      sent = send(connection->fd, connection->text, (size_t)connection->text_left, MSG_NOSIGNAL | more);
      if (sent > 0) connection->text += sent, connection->text_left -= sent;
    } else {
      const int64_t size = connection->padding_left < (int64_t)sizeof padding ? connection->padding_left
                                                                              : (int64_t)sizeof padding;
      sent = send(connection->fd, padding, (size_t)size, MSG_NOSIGNAL);
      if (sent > 0) connection->padding_left -= sent;
    }
    if (sent < 0) return errno == EAGAIN ? blocked : broken;
  }
  return done;
}

static enum outcome read_body(struct connection* connection) {
  static char sink[1 << 17];
  while (connection->body > 0) {
    const int64_t size = connection->body < (int64_t)sizeof sink ? connection->body : (int64_t)sizeof sink;
    const ssize_t got = recv(connection->fd, sink, (size_t)size, 0);
    if (got == 0) return broken;
    if (got < 0) return errno == EAGAIN ? blocked : broken;
    connection->body -= got;
  }
  return done;
}

// Reads until a whole head is held; its length is written to `length`.
static enum outcome read_head(struct connection* connection, int* length) {
  for (;;) {
    char* end =
        connection->held >= 4 ? memmem(connection->head, (size_t)connection->held, "\r\n\r\n", 4) : NULL;
    if (end != NULL) {
      *end = 0;  // a head is one string from here on
      *length = (int)(end - connection->head) + 4;
      return done;
    }
    const size_t room = sizeof connection->head - (size_t)connection->held;
    if (room == 0) return broken;
    const ssize_t got = recv(connection->fd, connection->head + connection->held, room, 0);
    if (got == 0) return broken;
    if (got < 0) return errno == EAGAIN ? blocked : broken;
    connection->held += (int)got;
  }
}

// Takes one request out of what is held, and chooses its answer.
static enum outcome take_request(struct connection* connection, int length) {
  if (connection->head[0] == 'P') {
    const char* field = strcasestr(connection->head, "\ncontent-length:");
    connection->body = field == NULL ? 0 : strtoll(field + 16, NULL, 10);
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (strcasestr(connection->head, "\nexpect:") != NULL &&
        send(connection->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL) < 0)
      return broken;
  }
  char* target = strchr(connection->head, ' ');
  const struct answer* answer = answer_to(target == NULL ? connection->head : target + 1);
  const int64_t behind = connection->held - length;
  const int64_t of_body = behind < connection->body ? behind : connection->body;
  memmove(connection->head, connection->head + length + of_body, (size_t)(behind - of_body));
  connection->held = (int)(behind - of_body);
  connection->body -= of_body;
  connection->text = answer->text;
  connection->text_left = answer->length;
  connection->padding_left = answer->padding;
  return done;
}

// Does what can be done now; `broken` when the connection has ended.
static enum outcome serve(struct connection* connection) {
  for (;;) {
    enum outcome outcome = read_body(connection);
    if (outcome == done) outcome = write_answer(connection);
    int length = 0;
    if (outcome == done) outcome = read_head(connection, &length);
    if (outcome == done) outcome = take_request(connection, length);
    if (outcome != done) return outcome;
  }
}

static void accept_all(int listener, int queue) {
  int fd, one = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection* connection = calloc(1, sizeof *connection);
    if (connection == NULL) abort();
    connection->fd = fd;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = connection};
    epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event);
  }
}

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: upstream PORT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  memset(padding, 'z', sizeof padding);
  prepare(&small, "200 OK", "hello, world\n", 13);
  prepare(&ten_kib, "200 OK", "x", small_body);
  prepare(&one_mib, "200 OK", "z", 1 << 20);
  prepare(&big, "200 OK", "z", 64 << 20);
  prepare(&busy, "503 Service Unavailable", "busy\n", 5);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in here = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(arguments[1])),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr*)&here, sizeof here) < 0 || listen(listener, 4096) < 0) {
    perror("upstream");
    return 1;
  }
  const int queue = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
  epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    const int ready = epoll_wait(queue, events, 256, -1);
    for (int i = 0; i < ready; ++i) {
      struct connection* connection = events[i].data.ptr;
      if (connection == NULL) {
        accept_all(listener, queue);
      } else if (serve(connection) == broken) {
        close(connection->fd);
        free(connection);
      }
    }
  }
}
