/* The benchmark's load client: one thread, keep-alive connections, distinct requests, and a check of every response.
 *
 *   load PORT[,PORT...] CONNECTIONS SECONDS RATE FIRST (WEIGHT ROWS REQUEST_FILE EXPECTED)...
 *
 * Connections are distributed evenly among the ports. With RATE 0, the loop is closed: each connection sends the next
 * request as soon as it has received a response. With RATE n, n requests per second fall due, whether or not earlier
 * ones have been answered, and latency is counted from the time at which a request was due, so that a stalling server
 * cannot hide the delay. If the WEIGHTs add up to W, every W consecutive requests are divided in proportion to them.
 *
 * A request file contains the whole HTTP request, in which some bytes are placeholders. The byte 0xE0 + k is digit k of
 * a 12-digit number, which is random below ROWS or, if ROWS is 0, counts up from FIRST. The byte 0xF0 + k is digit k of
 * a number that is always random. The byte 0xDF is a random line of the file in the environment variable LOAD_NAMES. A
 * response is correct if its status is 200, it is complete, and its body contains EXPECTED. Prints one JSON object.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 12, NAME_MARK = 0xDF, MARK = 0xE0, RANDOM_MARK = 0xF0, PORTS_MAX = 16 };
enum { REQUEST_MAX = 8192, NAME_MAX_BYTES = 256, ANSWER_MAX = 262144, SHOTS_MAX = 16, DRAIN_SECONDS = 10 };

typedef struct {
  int weight;
  uint64_t rows;
  const char *expected;
  char request[REQUEST_MAX];
  size_t length;
  size_t marks[REQUEST_MAX];
  size_t mark_count;
  char *name; /* where a name is inserted, or NULL */
} Shot;

typedef struct {
  int fd;
  const Shot *shot; /* NULL while idle */
  int64_t due;
  size_t have;
  char answer[ANSWER_MAX + 1];
} Connection;

static int ports[PORTS_MAX], port_count;
static Shot shots[SHOTS_MAX];
static int shot_count, weight_sum, connection_count, timer, poller;
static double rate;
static uint64_t counter, issued, errors;
static int64_t started, finish, last_answer;
static Connection *connections;
static int *idle, idle_count;
static char **names;
static size_t name_count;
static float *latencies;
static size_t latency_count, latency_room;

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "refused");
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static uint64_t state; /* seeded from the clock, because a second run must not request the same rows */

static uint64_t random_below(uint64_t bound) { /* splitmix64 */
  uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (z ^ (z >> 31)) % bound;
}

static void read_shot(Shot *shot, char **words) {
  shot->weight = atoi(words[0]);
  shot->rows = strtoull(words[1], NULL, 10);
  shot->expected = words[3];
  FILE *file = fopen(words[2], "rb");
  if (!file) fail(words[2]);
  shot->length = fread(shot->request, 1, REQUEST_MAX, file);
  fclose(file);
  for (size_t i = 0; i < shot->length; i++)
    if ((unsigned char)shot->request[i] == NAME_MARK) shot->name = shot->request + i;
    else if ((unsigned char)shot->request[i] >= MARK) shot->marks[shot->mark_count++] = i;
}

static void read_names(const char *path) {
  char line[NAME_MAX_BYTES];
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  for (size_t room = 0; fgets(line, sizeof line, file); name_count++) {
    if (name_count == room) names = realloc(names, (room = room ? 2 * room : 1024) * sizeof *names);
    if (!names) fail("realloc");
    line[strcspn(line, "\n")] = 0;
    names[name_count] = strdup(line);
  }
  fclose(file);
}

static const Shot *pick(uint64_t number) {
  int at = number % weight_sum;
  const Shot *shot = shots;
  while (at >= shot->weight) at -= shot++->weight;
  return shot;
}

static void connect_again(Connection *c) {
  int on = 1;
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(ports[(c - connections) % port_count])};
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&server, sizeof server) < 0) fail("connect");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event) < 0) fail("epoll_ctl");
}

static void write_digits(char *out, uint64_t number) {
  for (int i = DIGITS; i-- > 0; number /= 10) out[i] = '0' + number % 10;
}

/* Replaces the placeholder with a name, and returns the request's length. */
static size_t put_name(char *out, const Shot *shot) {
  const char *name = names[random_below(name_count)];
  size_t at = shot->name - shot->request, length = strlen(name);
  memmove(out + at + length, out + at + 1, shot->length - at - 1);
  memcpy(out + at, name, length);
  return shot->length + length - 1;
}

static size_t fill(char *out, const Shot *shot) {
  char digits[RANDOM_MARK - MARK + DIGITS];
  write_digits(digits, shot->rows ? random_below(shot->rows) : counter++);
  write_digits(digits + (RANDOM_MARK - MARK), random_below(1000000000000ULL));
  memcpy(out, shot->request, shot->length);
  for (size_t i = 0; i < shot->mark_count; i++) {
    size_t at = shot->marks[i];
    out[at] = digits[(unsigned char)shot->request[at] - MARK];
  }
  return shot->name ? put_name(out, shot) : shot->length;
}

static void ask(Connection *c, int64_t due) {
  char out[REQUEST_MAX + NAME_MAX_BYTES];
  c->shot = pick(issued++);
  c->due = due;
  c->have = 0;
  size_t length = fill(out, c->shot);
  if (send(c->fd, out, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

static int64_t next_due(int64_t now) { return rate > 0 ? started + (int64_t)(issued * 1e9 / rate) : now; }

static void ask_all_due(void) {
  int64_t now = now_ns(), due = next_due(now);
  while (idle_count && due <= now && due < finish) {
    ask(&connections[idle[--idle_count]], due);
    due = next_due(now);
  }
  if (rate > 0 && due > now) {
    struct itimerspec at = {.it_value = {due / 1000000000LL, due % 1000000000LL}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
  }
}

static void record(float us) {
  if (latency_count == latency_room) {
    latency_room = latency_room ? latency_room * 2 : 65536;
    latencies = realloc(latencies, latency_room * sizeof *latencies);
    if (!latencies) fail("realloc");
  }
  latencies[latency_count++] = us;
}

static void count_error(const char *why, const char *answer) {
  if (!errors++) fprintf(stderr, "load: %s: %.600s\n", why, answer);
}

static void done(Connection *c) {
  c->shot = NULL;
  idle[idle_count++] = (int)(c - connections);
}

/* Returns the length of the response in bytes, or 0 while it is incomplete. */
static size_t whole(Connection *c, char **body) {
  c->answer[c->have] = 0;
  char *end = strstr(c->answer, "\r\n\r\n");
  if (!end) return 0;
  *end = 0;
  const char *field = strcasestr(c->answer, "\r\ncontent-length:");
  size_t length = field ? strtoul(field + 17, NULL, 10) : 0;
  *end = '\r';
  *body = end + 4;
  size_t total = (size_t)(*body - c->answer) + length;
  return c->have >= total ? total : 0;
}

static void judge(Connection *c, const char *body) {
  last_answer = now_ns();
  if (memcmp(c->answer + 8, " 200 ", 5) || !strstr(body, c->shot->expected)) count_error("wrong answer", c->answer);
  record((last_answer - c->due) / 1e3f);
  done(c);
}

static void hear(Connection *c) {
  char *body;
  ssize_t got = recv(c->fd, c->answer + c->have, ANSWER_MAX - c->have, 0);
  if (got <= 0) {
    close(c->fd);
    connect_again(c);
    if (c->shot) {
      count_error("connection lost", "");
      done(c);
    }
    return;
  }
  c->have += got;
  if (c->shot && whole(c, &body)) judge(c, body);
}

static void run(void) {
  struct epoll_event events[256];
  int64_t give_up = finish + DRAIN_SECONDS * 1000000000LL;
  for (ask_all_due(); now_ns() < finish || idle_count < connection_count; ask_all_due()) {
    int count = epoll_wait(poller, events, 256, 100);
    for (int i = 0; i < count; i++) {
      uint64_t ticks;
      if (events[i].data.ptr) hear(events[i].data.ptr);
      else if (read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) fail("timer");
    }
    if (now_ns() > give_up) break;
  }
  errors += connection_count - idle_count;
}

static int by_size(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static float percentile(double share) {
  return latency_count ? latencies[(size_t)(share * (latency_count - 1) + 0.5)] : 0;
}

static void report(void) {
  qsort(latencies, latency_count, sizeof *latencies, by_size);
  printf("{\"answers\": %zu, \"errors\": %llu, \"seconds\": %.6f, \"next\": %llu, ", latency_count,
         (unsigned long long)errors, (last_answer - started) / 1e9, (unsigned long long)counter);
  printf("\"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}\n", percentile(0.5), percentile(0.9),
         percentile(0.99), percentile(1));
}

static void prepare(int argc, char **argv) {
  if (argc < 10 || (argc - 6) % 4 || (argc - 6) / 4 > SHOTS_MAX) fail("arguments");
  for (char *word = strtok(argv[1], ","); word && port_count < PORTS_MAX; word = strtok(NULL, ","))
    ports[port_count++] = atoi(word);
  connection_count = atoi(argv[2]);
  rate = atof(argv[4]);
  counter = strtoull(argv[5], NULL, 10);
  for (char **words = argv + 6; *words; words += 4) read_shot(&shots[shot_count++], words);
  for (int i = 0; i < shot_count; i++) weight_sum += shots[i].weight;
  if (getenv("LOAD_NAMES")) read_names(getenv("LOAD_NAMES"));
  for (int i = 0; i < shot_count; i++)
    if (shots[i].name && !name_count) fail("LOAD_NAMES");
  state = (uint64_t)now_ns();
  connections = calloc(connection_count, sizeof *connections);
  idle = calloc(connection_count, sizeof *idle);
  if (!connections || !idle || weight_sum <= 0 || !port_count) fail("arguments");
}

int main(int argc, char **argv) {
  prepare(argc, argv);
  poller = epoll_create1(0);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event);
  for (int i = 0; i < connection_count; i++) {
    connect_again(&connections[i]);
    done(&connections[i]);
  }
  started = last_answer = now_ns();
  finish = started + (int64_t)(atof(argv[3]) * 1e9);
  run();
  report();
  return errors != 0;
}
