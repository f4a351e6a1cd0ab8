/*
 * Connection of a writer of pairs to pairs.sock: greeting, answers, and the next attempt after it ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/pairs.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/printable.h"
#include "ipc/writers.h"

#define MS INT64_C(1000000)
#define PAUSE_NS (250 * MS) /* least time from one attempt to the next */
#define REFUSED_PAUSE_NS \
	SX_NS_PER_S /* the same after a refusal: each attempt is a line in the daemon's log */
/*
 * A daemon that does not answer the greeting for this long, and once more for each whole million pixels, is
 * gone. A daemon that is making memory for large images, or computes the last frame of them, answers late.
 */
#define SILENCE_NS (5 * SX_NS_PER_S)
#define SEND_AGAIN_NS (10 * MS) /* pause if the greeting does not fit into the socket */
#define ANSWERS_MAX 1024 /* answers read by one call: a daemon without a pause must not block the caller */

/* ---- pairs that are away ---- */

static void come_back(struct stixel_pairs *w, uint32_t i, uint32_t fate)
{
	const struct sx_pairs_away pair = w->away[i];

	if (fate == STIXEL_PAIR_LOST)
		w->count.lost++;
	else
		w->count.returned[fate]++;
	w->away_count--;
	memmove(&w->away[i], &w->away[i + 1], (w->away_count - i) * sizeof(w->away[0]));
	if (pair.buffer != SX_PAIRS_NO_BUFFER) {
		w->buffers[pair.buffer].away = false;
		return;
	}
	sx_must_or(return, w->back_count, <, SX_PAIRS_AWAY_MAX);
	w->back[(w->back_first + w->back_count) % SX_PAIRS_AWAY_MAX] =
		(struct sx_pairs_back){pair.number, fate};
	w->back_count++;
}

void sx_pairs_end(struct stixel_pairs *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	w->state = SX_PAIRS_CLOSED;
	while (w->away_count)
		come_back(w, 0, STIXEL_PAIR_LOST);
}

/* ---- connecting ---- */

static void fail(struct stixel_pairs *w, int error)
{
	w->failed = error;
	w->failures++;
}

/* Connects to the socket in a runtime directory. Returns 0 or negative errno. */
static int connect_to(struct stixel_pairs *w, uint32_t place)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r;

	memcpy(address.sun_path, w->path[place], sizeof(address.sun_path));
	w->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (w->fd < 0)
		return -errno;
	if (connect(w->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	r = -errno;
	sx_pairs_end(w);
	return r;
}

/* Writes why no attempt succeeded. error: as connect() says. */
static void explain(struct stixel_pairs *w, int error, const char *path)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		sx_why_set(&w->why,
			   "you may not write to %s: join group " SX_WRITERS_GROUP
			   " (sudo usermod -aG " SX_WRITERS_GROUP " NAME) and log in again",
			   path);
		fail(w, -EACCES);
		return;
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED: /* a dead daemon leaves a socket without a listener */
		if (w->instance[0])
			sx_why_set(
				&w->why,
				"no daemon takes pairs at %s: is stixeld@%s running with source.kind = shared?",
				path, w->instance);
		else
			sx_why_set(
				&w->why,
				"no daemon takes pairs at %s: is stixeld running with source.kind = shared?",
				path);
		break;
	case EAGAIN:
		sx_why_set(&w->why, "the daemon at %s accepts no connections", path);
		break;
	case EPROTOTYPE:
		sx_why_set(&w->why, "%s is not a socket of stixeld", path);
		break;
	default:
		sx_why_set(&w->why, "%s: cannot connect: %s", path, stixel_strerror(error));
	}
	w->failed = 0;
}

/*
 * Asks the runtime directories in their order. If none has a daemon, the first one with another error counts.
 */
static void connect_anywhere(struct stixel_pairs *w)
{
	int error = -ENOENT;
	uint32_t of = SX_RUNTIME_DIRS;

	w->since_ns = sx_now_ns();
	w->next_ns = w->since_ns + PAUSE_NS;
	for (uint32_t i = 0; i < SX_RUNTIME_DIRS; i++) {
		int r;

		if (!w->path[i][0])
			continue;
		r = connect_to(w, i);
		if (r == 0) {
			w->place = i;
			w->greeted = 0;
			w->state = SX_PAIRS_GREETING;
			if (w->failed != -ECONNREFUSED) /* a refusal says more */
				sx_why_set(&w->why, "the daemon at %s has not answered yet", w->path[i]);
			return;
		}
		if (of == SX_RUNTIME_DIRS || (error == -ENOENT && r != -ENOENT)) {
			error = r;
			of = i;
		}
		if (!sx_runtime_dir_passed(r)) {
			error = r;
			of = i;
			break;
		}
	}
	if (of < SX_RUNTIME_DIRS)
		explain(w, error, w->path[of]);
}

/* ---- greeting ---- */

/* Sends a packet, with a descriptor unless fd is -1. Returns 0 or negative errno. */
static int send_packet(struct stixel_pairs *w, const void *bytes, size_t count, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)bytes, count};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
	}
	do
		n = sendmsg(w->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int send_hello(struct stixel_pairs *w)
{
	const struct stixel_pairs_hello hello = {.magic = STIXEL_PAIRS_MAGIC,
						 .kind = STIXEL_PAIRS_HELLO,
						 .abi_major = STIXEL_ABI_MAJOR,
						 .abi_minor = STIXEL_ABI_MINOR,
						 .bytes = sizeof(hello),
						 .buffers = w->buffer_count,
						 .format = w->format};

	return send_packet(w, &hello, sizeof(hello), -1);
}

static int send_buffer(struct stixel_pairs *w, uint32_t i)
{
	const struct stixel_pairs_buffer buffer = {.magic = STIXEL_PAIRS_MAGIC,
						   .kind = STIXEL_PAIRS_BUFFER,
						   .index = i,
						   .bytes = w->buffers[i].bytes};

	return send_packet(w, &buffer, sizeof(buffer), w->buffers[i].fd);
}

/* ETOOMANYREFS: the daemon has not taken earlier descriptors yet. */
static bool is_full(int error)
{
	return error == -EAGAIN || error == -ENOBUFS || error == -ENOMEM || error == -ETOOMANYREFS;
}

static void greet(struct stixel_pairs *w)
{
	int r = 0;

	while (r == 0 && w->greeted <= w->buffer_count) {
		r = w->greeted ? send_buffer(w, w->greeted - 1) : send_hello(w);
		if (r == 0)
			w->greeted++;
	}
	/*
	 * After any other error the connection has ended, and take_answers() finds the daemon's last words.
	 */
	if (!is_full(r))
		w->state = SX_PAIRS_AWAITING;
}

/* ---- answers ---- */

static void take_refusal(struct stixel_pairs *w, const struct stixel_pairs_answer *answer, char *text,
			 size_t room)
{
	text[answer->text_bytes < room ? answer->text_bytes : room] = 0;
	sx_make_printable(text);
	if (*text)
		sx_why_set(&w->why, "%s", text);
	else
		sx_why_set(&w->why, "the daemon at %s refuses this writer and gives no reason",
			   w->path[w->place]);
	fail(w, -ECONNREFUSED);
	w->next_ns = sx_now_ns() + REFUSED_PAUSE_NS;
	sx_pairs_end(w);
}

static void take_return(struct stixel_pairs *w, const struct stixel_pairs_answer *answer)
{
	/* A later version of the daemon may have more reasons not to read a pair. */
	const uint32_t fate = answer->fate <= STIXEL_PAIR_BAD ? answer->fate : STIXEL_PAIR_OVERLOAD;

	for (uint32_t i = 0; i < w->away_count; i++)
		if (w->away[i].number == answer->number) {
			come_back(w, i, fate);
			return;
		}
}

/* Acts on a packet of n bytes. Answers of unknown kinds are skipped, so that a later daemon may send them. */
static void take_answer(struct stixel_pairs *w, char *packet, size_t n)
{
	struct stixel_pairs_answer answer;

	memcpy(&answer, packet, sizeof(answer));
	if (n < sizeof(answer) || answer.magic != STIXEL_PAIRS_MAGIC) {
		sx_why_set(&w->why, "the daemon at %s sends packets that are no answers to a writer of pairs",
			   w->path[w->place]);
		w->failed = 0;
		sx_pairs_end(w);
	} else if (answer.kind == STIXEL_PAIRS_REFUSED) {
		take_refusal(w, &answer, packet + sizeof(answer), n - sizeof(answer));
	} else if (answer.kind == STIXEL_PAIRS_RETURNED) {
		take_return(w, &answer);
	} else if (answer.kind == STIXEL_PAIRS_WELCOME && w->state == SX_PAIRS_AWAITING) {
		w->state = SX_PAIRS_OPEN;
		w->count.connections++;
		w->failed = 0;
		sx_why_clear(&w->why);
	}
}

/* Receives a packet. Returns its bytes; 0: the connection has ended; -EAGAIN: no packet. */
static ssize_t receive(const struct stixel_pairs *w, char *packet, size_t room)
{
	ssize_t n = -1;

	/*
	 * If the daemon closed before it read all, the first call fails with ECONNRESET; its answers follow.
	 */
	for (int i = 0; i < 2 && n < 0; i++) {
		do
			n = recv(w->fd, packet, room, MSG_DONTWAIT);
		while (n < 0 && errno == EINTR);
		if (n < 0 && errno == EAGAIN)
			return -EAGAIN;
	}
	return n < 0 ? 0 : n;
}

static void take_answers(struct stixel_pairs *w)
{
	union {
		struct stixel_pairs_answer answer;
		char bytes[sizeof(struct stixel_pairs_answer) + STIXEL_PAIRS_TEXT_BYTES + 1];
	} packet = {0};

	for (int i = 0; i < ANSWERS_MAX && w->fd >= 0; i++) {
		const ssize_t n = receive(w, packet.bytes, sizeof(packet.bytes) - 1);

		if (n == -EAGAIN)
			return;
		if (n > 0) {
			take_answer(w, packet.bytes, (size_t)n);
			continue;
		}
		if (w->failed != -ECONNREFUSED)
			sx_why_set(&w->why, "the daemon at %s has ended the connection", w->path[w->place]);
		sx_pairs_end(w);
	}
}

/* ---- for the functions of the interface ---- */

static bool is_greeting(const struct stixel_pairs *w)
{
	return w->state == SX_PAIRS_GREETING || w->state == SX_PAIRS_AWAITING;
}

/* Returns the time at which the daemon is gone if it has not answered the greeting. */
static int64_t silent_at_ns(const struct stixel_pairs *w)
{
	const int64_t pixels = (int64_t)w->format.width * w->format.height;

	return w->since_ns + SILENCE_NS * (1 + pixels / 1000000);
}

void sx_pairs_step(struct stixel_pairs *w)
{
	/* A second round connects again at once if an open connection has ended. */
	for (int i = 0; i < 2; i++) {
		if (w->state == SX_PAIRS_CLOSED && sx_now_ns() >= w->next_ns)
			connect_anywhere(w);
		if (w->state == SX_PAIRS_GREETING)
			greet(w);
		if (w->fd >= 0)
			take_answers(w);
		if (w->fd >= 0)
			break;
	}
	if (is_greeting(w) && sx_now_ns() >= silent_at_ns(w)) {
		sx_why_set(&w->why, "the daemon at %s does not answer: it hangs, or it is stopped",
			   w->path[w->place]);
		w->failed = 0;
		sx_pairs_end(w);
	}
}

int sx_pairs_sleep(const struct stixel_pairs *w, int64_t until_ns)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};
	const int64_t now = sx_now_ns();
	int64_t next = until_ns, ms;

	if (w->state == SX_PAIRS_CLOSED && next > w->next_ns)
		next = w->next_ns;
	if (w->state == SX_PAIRS_GREETING && next > now + SEND_AGAIN_NS)
		next = now + SEND_AGAIN_NS;
	if (is_greeting(w) && next > silent_at_ns(w))
		next = silent_at_ns(w);
	ms = next <= now ? 0 : (next - now - 1) / MS + 1;
	return poll(&p, 1, ms < INT_MAX ? (int)ms : INT_MAX) < 0 && errno == EINTR ? -EINTR : 0;
}

int sx_pairs_send(struct stixel_pairs *w, const struct stixel_pairs_pair *pair, uint32_t buffer)
{
	int r;

	sx_must_or(return -ENOTCONN, w->state, ==, SX_PAIRS_OPEN);
	sx_must_or(return -EAGAIN, w->away_count, <, SX_PAIRS_AWAY_MAX);
	r = send_packet(w, pair, sizeof(*pair), -1);
	if (is_full(r))
		return -EAGAIN;
	if (r < 0) {
		take_answers(w); /* the daemon's last words; the end of the connection follows them */
		return -ENOTCONN;
	}
	w->away[w->away_count++] = (struct sx_pairs_away){pair->number, buffer};
	if (buffer != SX_PAIRS_NO_BUFFER)
		w->buffers[buffer].away = true;
	w->count.queued++;
	return 0;
}
