// The floor of the benchmark: a byte pipe for HTTP/1.1 with keep-alive. One thread, epoll; it looks for the
// end of each message (the empty line and Content-Length) and at nothing else, keeps upstream connections
// (the last one back is the first one lent), and has no timers, no retries, and no change of any byte.
//
//   dumbpipe PORT UPSTREAM_PORT [KIB of its buffer, 64] [splice]
//
// A request costs recv from the client, send to the upstream, recv from it, send to the client, and a share
// of an epoll_wait.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum outcome { done, blocked, broken };
enum { spliced_at_once = 1 << 20, spliced_from = 65536 };

struct side {
  int fd;
  bool is_upstream, is_closed, is_spliced;
  struct side* peer;  // the other side while a request is under way
  struct side* next;  // in the pool, or among the closed
  int64_t left;       // bytes left of the message that is read from this side; 0 between messages
  char* unsent;       // accepted for this side, and not yet written to it
  size_t unsent_length, unsent_begin;
  char* head;  // an incomplete head, read from this side
  size_t head_length;
  int pipe[2];
  int64_t in_pipe;
};

static int queue, upstream_port;
static bool splices;
static size_t buffer_size = 65536;
static char* buffer;
static struct side *pool, *closed;

static struct side* new_side(int fd, bool is_upstream) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct side* side = calloc(1, sizeof *side);
  if (side == NULL) abort();
  side->fd = fd;
  side->is_upstream = is_upstream;
  side->pipe[0] = -1;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = side};
  epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event);
  return side;
}

static struct side* lend_upstream(void) {
  if (pool != NULL) {
    struct side* side = pool;
    pool = side->next;
    side->next = NULL;
    return side;
  }
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in there = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)upstream_port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0) return NULL;
  if (connect(fd, (struct sockaddr*)&there, sizeof there) < 0) {  // over loopback that is done at once
    close(fd);
    return NULL;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return new_side(fd, true);
}

static void give_back(struct side* upstream) {
  struct side* client = upstream->peer;
  upstream->peer = NULL;
  client->peer = NULL;
  upstream->next = pool;
  pool = upstream;
}

static void close_side(struct side* side) {
  if (side->is_closed) return;
  side->is_closed = true;
  close(side->fd);
  if (side->pipe[0] >= 0) {
    close(side->pipe[0]);
    close(side->pipe[1]);
  }
  for (struct side** each = &pool; side->is_upstream && *each != NULL; each = &(*each)->next) {
    if (*each == side) {
      *each = side->next;
      break;
    }
  }
  struct side* peer = side->peer;
  side->peer = NULL;
  side->next = closed;  // freed when no event can name it any more
  closed = side;
  if (peer == NULL) return;
  peer->peer = NULL;
  close_side(peer);
}

// Writes now, and keeps what does not fit.
static enum outcome write_to(struct side* side, const char* text, size_t length) {
  if (side->unsent_length == 0) {
    const ssize_t sent = send(side->fd, text, length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return broken;
    if (sent > 0) text += sent, length -= (size_t)sent;
  }
  if (length == 0) return done;
  const size_t end = side->unsent_begin + side->unsent_length;
  side->unsent = realloc(side->unsent, end + length);
  if (side->unsent == NULL) abort();
  memcpy(side->unsent + end, text, length);
  side->unsent_length += length;
  return done;
}

static enum outcome write_unsent(struct side* side) {
  while (side->unsent_length > 0) {
    const ssize_t sent = send(side->fd, side->unsent + side->unsent_begin, side->unsent_length, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? blocked : broken;
    side->unsent_begin += (size_t)sent;
    side->unsent_length -= (size_t)sent;
  }
  free(side->unsent);
  side->unsent = NULL;
  side->unsent_begin = 0;
  return done;
}

// The length of head and body together; 0 where the head is not complete.
static int64_t message_length(const char* text, size_t length) {
  const char* end = memmem(text, length, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  const int64_t head = end - text + 4;
  for (const char* line = text; (line = memchr(line, '\n', (size_t)(end - line))) != NULL && ++line < end;) {
    if ((*line | 32) == 'c' && strncasecmp(line, "content-length:", 15) == 0)
      return head + strtoll(line + 15, NULL, 10);
  }
  return head;
}

static enum outcome splice_answer(struct side* upstream) {
  struct side* client = upstream->peer;
  const enum outcome before = write_unsent(client);
  if (before != done) return before;
  if (upstream->pipe[0] < 0) {
    if (pipe2(upstream->pipe, O_NONBLOCK | O_CLOEXEC) < 0) return broken;
    fcntl(upstream->pipe[1], F_SETPIPE_SZ, spliced_at_once);
  }
  while (upstream->left > 0 || upstream->in_pipe > 0) {
    if (upstream->left > 0 && upstream->in_pipe < spliced_at_once / 2) {
      const int64_t wanted = upstream->left < spliced_at_once ? upstream->left : spliced_at_once;
      const ssize_t got = splice(upstream->fd, NULL, upstream->pipe[1], NULL, (size_t)wanted,
                                 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return broken;
      if (got < 0 && upstream->in_pipe == 0) return blocked;
      if (got > 0) upstream->in_pipe += got, upstream->left -= got;
    }
    while (upstream->in_pipe > 0) {
      const unsigned more = upstream->left > 0 ? SPLICE_F_MORE : 0;
      const ssize_t sent = splice(upstream->pipe[0], NULL, client->fd, NULL, (size_t)upstream->in_pipe,
                                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK | more);
      if (sent < 0) return errno == EAGAIN ? blocked : broken;
      upstream->in_pipe -= sent;
    }
  }
  upstream->is_spliced = false;
  give_back(upstream);
  return done;
}

// Bytes of a new message from `side`: `whole` is what is
// held of it. `blocked` where its head is not complete.
static enum outcome begin_message(struct side* side, const char* whole, size_t length) {
  const int64_t message = message_length(whole, length);
  if (message == 0) {
    if (side->head == NULL) {
      side->head = malloc(length);
      if (side->head == NULL) abort();
      memcpy(side->head, whole, length);
      side->head_length = length;
    }
    return blocked;
  }
  const bool is_interim = side->is_upstream && length > 9 && whole[9] == '1';
  side->left = is_interim || message < (int64_t)length ? 0 : message - (int64_t)length;
  if (!side->is_upstream) {
    struct side* upstream = lend_upstream();
    if (upstream == NULL) return broken;
    side->peer = upstream;
    upstream->peer = side;
    upstream->left = 0;
  }
  const enum outcome outcome = write_to(side->peer, whole, length);
  free(side->head);
  side->head = NULL;
  side->head_length = 0;
  if (outcome == done && side->is_upstream && !is_interim && side->left == 0) give_back(side);
  return outcome;
}

// The buffer holds `length` bytes from `side`.
static enum outcome forward(struct side* side, size_t length) {
  if (side->left == 0) {
    if (side->head == NULL) return begin_message(side, buffer, length);
    side->head = realloc(side->head, side->head_length + length);
    if (side->head == NULL) abort();
    memcpy(side->head + side->head_length, buffer, length);
    side->head_length += length;
    return begin_message(side, side->head, side->head_length);
  }
  side->left -= (int64_t)length;
  const enum outcome outcome = write_to(side->peer, buffer, length);
  if (outcome == done && side->is_upstream && side->left <= 0) give_back(side);
  return outcome;
}

// Reads what is there and passes it on; `broken` where the pair must be closed.
static enum outcome read_from(struct side* side) {
  for (;;) {
    struct side* peer = side->peer;
    if (side->is_spliced && peer != NULL) return splice_answer(side);
    if (peer != NULL && peer->unsent_length > 0) {
      const enum outcome outcome = write_unsent(peer);
      if (outcome != done) return outcome;
    }
    if (!side->is_upstream && peer != NULL && side->left == 0)
      return done;  // the next request waits for this answer
    const ssize_t got = recv(side->fd, buffer, buffer_size, 0);
    if (got < 0) return errno == EAGAIN ? blocked : broken;
    if (got == 0 || (peer == NULL && (side->is_upstream || side->left > 0))) return broken;
    if (forward(side, (size_t)got) == broken) return broken;
    if (side->is_upstream && side->peer == NULL) return done;
    if (splices && side->is_upstream && side->left > spliced_from)
      side->is_spliced = true;
    else if ((size_t)got < buffer_size)
      return done;  // all of it: the next edge will tell
  }
}

static void serve(struct side* side, uint32_t events) {
  if (side->is_closed) return;
  enum outcome outcome = (events & (EPOLLERR | EPOLLHUP)) != 0 ? broken : done;
  if (outcome != broken && (events & (EPOLLIN | EPOLLRDHUP)) != 0) outcome = read_from(side);
  if (outcome != broken && (events & EPOLLOUT) != 0) {
    outcome = write_unsent(side);
    struct side* peer = side->peer;
    if (outcome == done && peer != NULL && (peer->is_spliced || peer->left > 0)) outcome = read_from(peer);
  }
  if (outcome == broken) close_side(side);
}

int main(int count, char** arguments) {
  if (count < 3 || count > 5) {
    fprintf(stderr, "usage: dumbpipe PORT UPSTREAM_PORT [KIB] [splice]\n");
    return 2;
  }
  upstream_port = atoi(arguments[2]);
  if (count > 3) buffer_size = (size_t)atoi(arguments[3]) * 1024;
  splices = count > 4;
  buffer = malloc(buffer_size);
  signal(SIGPIPE, SIG_IGN);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in here = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(arguments[1])),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (buffer == NULL || bind(listener, (struct sockaddr*)&here, sizeof here) < 0 ||
      listen(listener, 4096) < 0) {
    perror("dumbpipe");
    return 1;
  }
  queue = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[128];
  epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    const int ready = epoll_wait(queue, events, 128, -1);
    for (int i = 0; i < ready; ++i) {
      int fd;
      if (events[i].data.ptr != NULL) {
        serve(events[i].data.ptr, events[i].events);
      } else {
        while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) new_side(fd, false);
      }
    }
    while (closed != NULL) {
      struct side* side = closed;
      closed = side->next;
      free(side->unsent);
      free(side->head);
      free(side);
    }
  }
}
