// A load generator for HTTP/1.1 over loopback: one thread, epoll. Prints one JSON object.
//
//   loadgen closed ...               every connection sends again as soon as it is answered
//   loadgen rate ... --rate R        request i is due at i/R seconds; latency counts from then on
//   loadgen idle ...                 one request on each connection, then waits for the end of standard input
//
// Also: --port P, --conns N, --secs S, --path TARGET, --host VALUE of Host, --headers N more request fields,
// --body BYTES (then it is a POST), --warm SECS before it counts, --count N answers at most. Answers have a
// Content-Length or end with their connection.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { latencies_kept = 8 << 20, batch = 512, most_headers = 50 };

struct connection {
  int fd;
  bool busy;     // a request is under way
  bool in_body;  // its answer's head is read
  bool ends;     // the connection ends with this answer
  int status;
  uint64_t due;      // what the latency counts from, in nanoseconds
  uint64_t written;  // bytes of the request
  int64_t left;      // bytes of the answer's body; -1: until the connection ends
  int held;          // bytes in head
  char head[8192];
};

static struct {
  const char* mode;
  const char* path;
  const char* host;
  int port, connections, headers;
  double seconds, warm, rate;
  uint64_t body, count;
} asked = {.mode = "", .path = "/", .host = NULL, .connections = 1, .seconds = 2, .warm = 0.3, .rate = 1000};

static struct {
  uint64_t answers, ok, bad, server_errors, errors, bytes, reconnects, backlog;
  uint32_t* latencies;  // in tens of nanoseconds
  uint64_t known;
} counted;

static int queue;
static bool measuring;
static char request[1 << 16], zeros[1 << 18], input[1 << 18];
static uint64_t head_length, request_length;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static void die(const char* what) {
  perror(what);
  exit(2);
}

static void open_connection(struct connection* connection) {
  struct sockaddr_in there = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)asked.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->fd < 0) die("loadgen: socket");
  int one = 1;
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  for (int tries = 0; connect(connection->fd, (struct sockaddr*)&there, sizeof there) < 0; ++tries) {
    if (tries > 200) die("loadgen: connect");
    usleep(10000);
  }
  fcntl(connection->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, .data.ptr = connection};
  epoll_ctl(queue, EPOLL_CTL_ADD, connection->fd, &event);
  connection->busy = connection->in_body = false;
  connection->held = 0;
}

static void open_again(struct connection* connection) {
  close(connection->fd);
  ++counted.reconnects;
  open_connection(connection);
}

static void write_request(struct connection* connection) {
  while (connection->busy && connection->written < request_length) {
    const uint64_t left = request_length - connection->written;
    ssize_t sent;
    if (request_length <= sizeof request) {
      sent = send(connection->fd, request + connection->written, left, MSG_NOSIGNAL);
    } else if (connection->written < head_length) {
      sent = send(connection->fd, request + connection->written, head_length - connection->written,
                  MSG_NOSIGNAL | MSG_MORE);
    } else {
      sent = send(connection->fd, zeros, left < sizeof zeros ? left : sizeof zeros, MSG_NOSIGNAL);
    }
    if (sent <= 0) return;
    connection->written += (uint64_t)sent;
  }
}

static void start_request(struct connection* connection, uint64_t due) {
  connection->busy = true;
  connection->in_body = false;
  connection->due = due;
  connection->written = 0;
  connection->held = 0;
  write_request(connection);
}

static void finish(struct connection* connection) {
  if (measuring) {
    ++counted.answers;
    if (connection->status >= 500) ++counted.server_errors;
    if (connection->status / 100 == 2)
      ++counted.ok;
    else
      ++counted.bad;
    if (counted.known < latencies_kept)
      counted.latencies[counted.known++] = (uint32_t)((now() - connection->due) / 10);
  }
  connection->busy = connection->in_body = false;
  connection->held = 0;
  if (connection->ends) open_again(connection);
}

// Reads the head that ends at `end`, which is one string then.
static void read_fields(struct connection* connection, char* end) {
  *end = 0;
  connection->status = atoi(connection->head + 9);
  connection->ends = strncmp(connection->head, "HTTP/1.1", 8) != 0 ||
                     strcasestr(connection->head, "\nconnection: close") != NULL;
  const char* length = strcasestr(connection->head, "\ncontent-length:");
  connection->left = length == NULL ? -1 : strtoll(length + 16, NULL, 10);
  if (connection->status == 204 || connection->status == 304) connection->left = 0;
  if (strcasestr(connection->head, "\ntransfer-encoding:") != NULL) {
    fprintf(stderr, "loadgen: an answer is chunked, which is not understood here\n");
    exit(2);
  }
}

// Takes `size` bytes of input; true when they end the answer.
static bool take(struct connection* connection, ssize_t size) {
  if (!connection->in_body) {
    const int room = (int)sizeof connection->head - connection->held;
    const int taken = size < room ? (int)size : room;
    const int before = connection->held;
    memcpy(connection->head + before, input, (size_t)taken);
    connection->held += taken;
    char* end = memmem(connection->head, (size_t)connection->held, "\r\n\r\n", 4);
    if (end == NULL) return false;
    read_fields(connection, end);
    if (connection->status / 100 == 1) {
      connection->held = 0;
      return false;
    }
    connection->in_body = true;
    size -= end + 4 - connection->head - before;
  }
  if (connection->left < 0) return false;
  connection->left -= size;
  return connection->left <= 0;
}

// True when an answer was finished, or will not come.
static bool read_answer(struct connection* connection) {
  for (;;) {
    const ssize_t got = recv(connection->fd, input, sizeof input, 0);
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      const bool was_busy = connection->busy;
      if (was_busy && connection->in_body && connection->left < 0) {
        connection->ends = true;
        finish(connection);
        return true;
      }
      if (was_busy && measuring) ++counted.errors;
      open_again(connection);
      return was_busy;
    }
    if (measuring) counted.bytes += (uint64_t)got;
    if (connection->busy && take(connection, got)) {
      finish(connection);
      return true;
    }
  }
}

static int by_size(const void* one, const void* other) {
  const uint32_t a = *(const uint32_t*)one, b = *(const uint32_t*)other;
  return a < b ? -1 : a > b;
}

static double percentile(double share) {
  if (counted.known == 0) return 0;
  return counted.latencies[(uint64_t)(share * (double)(counted.known - 1) + 0.5)] / 100.0;
}

static void tell(double seconds) {
  qsort(counted.latencies, counted.known, sizeof *counted.latencies, by_size);
  printf(
      "{\"requests\": %llu, \"ok\": %llu, \"bad\": %llu, \"err\": %llu, \"s5xx\": %llu, \"bytes\": %llu, "
      "\"secs\": %.6f, "
      "\"reconnects\": %llu, \"backlog\": %llu, \"p50_us\": %.2f, \"p90_us\": %.2f, \"p99_us\": %.2f, "
      "\"p999_us\": %.2f}\n",
      (unsigned long long)counted.answers, (unsigned long long)counted.ok, (unsigned long long)counted.bad,
      (unsigned long long)counted.errors, (unsigned long long)counted.server_errors,
      (unsigned long long)counted.bytes, seconds, (unsigned long long)counted.reconnects,
      (unsigned long long)counted.backlog, percentile(0.5), percentile(0.9), percentile(0.99),
      percentile(0.999));
}

static void read_options(int count, char** arguments) {
  asked.mode = count > 1 ? arguments[1] : "";
  for (int i = 2; i + 1 < count; i += 2) {
    const char *name = arguments[i], *value = arguments[i + 1];
    if (strcmp(name, "--port") == 0)
      asked.port = atoi(value);
    else if (strcmp(name, "--conns") == 0)
      asked.connections = atoi(value);
    else if (strcmp(name, "--secs") == 0)
      asked.seconds = atof(value);
    else if (strcmp(name, "--warm") == 0)
      asked.warm = atof(value);
    else if (strcmp(name, "--rate") == 0)
      asked.rate = atof(value);
    else if (strcmp(name, "--path") == 0)
      asked.path = value;
    else if (strcmp(name, "--host") == 0)
      asked.host = value;
    else if (strcmp(name, "--headers") == 0)
      asked.headers = atoi(value);
    else if (strcmp(name, "--body") == 0)
      asked.body = strtoull(value, NULL, 10);
    else if (strcmp(name, "--count") == 0)
      asked.count = strtoull(value, NULL, 10);
    else
      asked.mode = "";
  }
  const bool known =
      strcmp(asked.mode, "closed") == 0 || strcmp(asked.mode, "rate") == 0 || strcmp(asked.mode, "idle") == 0;
  if (!known || asked.port == 0 || asked.host == NULL || asked.connections < 1 ||
      asked.headers > most_headers) {
    fprintf(
        stderr,
        "usage: loadgen closed|rate|idle --port P --host VALUE [--conns N] [--secs S] ...; see its source\n");
    exit(2);
  }
}

static void write_head(void) {
  memset(request, 'z', sizeof request);
  memset(zeros, 'z', sizeof zeros);
  int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\n",
                        asked.body > 0 ? "POST" : "GET", asked.path, asked.host);
  for (int i = 0; i < asked.headers; ++i)
    length += snprintf(request + length, sizeof request - (size_t)length,
                       "X-Bench-Header-%02d: some-typical-value-%08x\r\n", i, (unsigned)i * 2654435761U);
  if (asked.body > 0)
    length += snprintf(request + length, sizeof request - (size_t)length, "Content-Length: %llu\r\n",
                       (unsigned long long)asked.body);
  memcpy(request + length, "\r\nz", 3);  // over the 0 that ends the text
  head_length = (uint64_t)length + 2;
  request_length = head_length + asked.body;
}

// One answered request on each connection, opened in waves so that no listen queue overflows; then it waits.
static void stay_idle(struct connection* connections) {
  struct epoll_event events[batch];
  measuring = true;
  int opened = 0, under_way = 0;
  const uint64_t due = now() + 60000000000U;
  while (counted.answers + counted.errors < (uint64_t)asked.connections && now() < due) {
    for (; opened < asked.connections && under_way < 64; ++opened, ++under_way) {
      open_connection(&connections[opened]);
      start_request(&connections[opened], now());
    }
    const int ready = epoll_wait(queue, events, batch, 1000);
    for (int i = 0; i < ready; ++i) {
      write_request(events[i].data.ptr);
      if (read_answer(events[i].data.ptr)) --under_way;
    }
  }
  printf("{\"ready\": %llu}\n", (unsigned long long)counted.ok);
  fflush(stdout);
  uint64_t closed = 0;
  struct epoll_event standard_input = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(queue, EPOLL_CTL_ADD, STDIN_FILENO, &standard_input);
  for (;;) {
    const int ready = epoll_wait(queue, events, 1, -1);
    if (ready < 1) continue;
    struct connection* connection = events[0].data.ptr;
    char byte;
    if (connection == NULL) {
      if (read(STDIN_FILENO, &byte, 1) <= 0) break;
    } else if (recv(connection->fd, &byte, 1, 0) == 0) {
      close(connection->fd);
      ++closed;
    }
  }
  printf("{\"closed_meanwhile\": %llu}\n", (unsigned long long)closed);
}

struct waiting {
  struct connection** free;  // connections without a request, in mode rate
  int count, turn;
  uint64_t sent;
};

// Sends what is due by `time`; returns how long nothing will be due, in nanoseconds.
static uint64_t send_due(struct waiting* waiting, uint64_t begin, uint64_t time) {
  const double gap = 1e9 / asked.rate;
  const uint64_t longest = 100000000U;
  uint64_t due = begin + (uint64_t)((double)waiting->sent * gap);
  while (due <= time && waiting->count > 0) {  // one connection after the other
    waiting->turn %= waiting->count;
    struct connection* connection = waiting->free[waiting->turn];
    waiting->free[waiting->turn++] = waiting->free[--waiting->count];
    start_request(connection, due);
    due = begin + (uint64_t)((double)++waiting->sent * gap);
  }
  if (due > time) return due - time < longest ? due - time : longest;
  const uint64_t behind = (uint64_t)((double)(time - due) / gap);
  if (behind > counted.backlog) counted.backlog = behind;
  return longest;
}

// Loads until the time or the count is over; returns the seconds that were measured.
static double load(struct connection* connections, bool by_rate) {
  struct waiting waiting = {.free = calloc((size_t)asked.connections, sizeof(struct connection*))};
  if (waiting.free == NULL) abort();
  const uint64_t begin = now(), counts_from = begin + (uint64_t)(asked.warm * 1e9),
                 end = counts_from + (uint64_t)(asked.seconds * 1e9);
  for (int i = 0; i < asked.connections; ++i) {
    if (by_rate)
      waiting.free[waiting.count++] = &connections[i];
    else
      start_request(&connections[i], begin);
  }
  uint64_t measured_from = begin;
  struct epoll_event events[batch];
  for (;;) {
    const uint64_t time = now();
    if (!measuring && time >= counts_from) {
      measuring = true;
      measured_from = time;
    }
    if (time >= end || (asked.count > 0 && counted.answers >= asked.count)) {
      free(waiting.free);
      return (double)(time - measured_from) / 1e9;
    }
    const uint64_t pause = by_rate ? send_due(&waiting, begin, time) : 100000000U;
    const struct timespec timeout = {0, (long)pause};
    const int ready = epoll_pwait2(queue, events, batch, &timeout, NULL);
    for (int i = 0; i < ready; ++i) {
      struct connection* connection = events[i].data.ptr;
      write_request(connection);
      const bool answered = (events[i].events & ~(uint32_t)EPOLLOUT) != 0 && read_answer(connection);
      if (answered && by_rate)
        waiting.free[waiting.count++] = connection;
      else if (!by_rate && !connection->busy)
        start_request(connection, now());
    }
  }
}

int main(int count, char** arguments) {
  read_options(count, arguments);
  prctl(PR_SET_TIMERSLACK, 1);
  write_head();
  queue = epoll_create1(EPOLL_CLOEXEC);
  counted.latencies = malloc(latencies_kept * sizeof *counted.latencies);
  struct connection* connections = calloc((size_t)asked.connections, sizeof *connections);
  if (counted.latencies == NULL || connections == NULL) abort();
  if (strcmp(asked.mode, "idle") == 0) {
    stay_idle(connections);
    return 0;
  }
  for (int i = 0; i < asked.connections; ++i) open_connection(&connections[i]);
  tell(load(connections, strcmp(asked.mode, "rate") == 0));
  return 0;
}
