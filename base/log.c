/*
 * Log lines on stderr, by topic and level, and the rings of real-time threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/spsc.h"
#include "base/wake.h"

#define RINGS 8
#define RING_LINES 64
#define PART_BYTES 64 /* longest name of a part in a line */

/* One line on its way from a real-time thread to the main thread. */
struct line {
	int64_t realtime_ns;
	uint8_t topic, level;
	char text[SX_LOG_TEXT_BYTES];
};

/* free -> opening -> taken (begin) -> ended (end) -> free (drained) */
enum ring_state { RING_FREE, RING_OPENING, RING_TAKEN, RING_ENDED };

struct ring {
	atomic_int state;
	struct sx_log_part *part; /* part of the thread; constant from taken to free */
	_Atomic uint64_t lost;	  /* lines lost since start; the main thread logs the number */
	uint64_t lost_logged;
	struct sx_spsc queue;
	struct line lines[RING_LINES];
};

static struct ring rings[RINGS];
static struct ring *more_rings; /* set before other threads start */
static int ring_count = RINGS;
static _Thread_local struct ring *own_ring;
static _Thread_local struct sx_log_part *own_part;
static atomic_int event_fd = -1;
static atomic_int output_fd = STDERR_FILENO;
static atomic_int to_journal = -1; /* -1: not checked yet */
static _Atomic uint64_t lines_put;
/* Number of the least important printed level plus one, for each topic. 0: the start value, INFO. */
static _Atomic uint8_t levels[SX_LOG_TOPICS];

static const char *const topic_names[SX_LOG_TOPICS] = {
	[SX_LOG_BASE] = "base",	    [SX_LOG_CAPTURE] = "capture", [SX_LOG_CONFIG] = "config",
	[SX_LOG_DAEMON] = "daemon", [SX_LOG_TOOLS] = "tools",
};

static const char *const level_names[] = {
	[SX_LOG_ERROR] = "error", [SX_LOG_WARNING] = "warning", [SX_LOG_NOTICE] = "notice",
	[SX_LOG_INFO] = "info",	  [SX_LOG_DEBUG] = "debug",
};

void sx_log_join(struct sx_log_part *part)
{
	own_part = part;
}

struct sx_log_part *sx_log_part(void)
{
	return own_part;
}

static bool printed(enum sx_log_topic topic, enum sx_log_level level)
{
	unsigned most = atomic_load_explicit(own_part ? &own_part->levels[topic] : &levels[topic],
					     memory_order_relaxed);

	return level <= (most ? most - 1 : (unsigned)SX_LOG_INFO);
}

/*
 * Checks whether fd is the journal's socket. JOURNAL_STREAM is DEVICE:INODE of that socket. Children inherit
 * the variable and may have another stderr.
 */
static bool fd_is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char *end;
	struct stat st;
	unsigned long long dev, ino;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	dev = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	ino = strtoull(end + 1, &end, 10);
	return !*end && dev == st.st_dev && ino == st.st_ino;
}

void sx_log_to(int fd)
{
	atomic_store(&output_fd, fd);
	atomic_store(&to_journal, fd_is_journal(fd));
}

static void log_put(struct sx_log_part *part, int64_t realtime_ns, unsigned topic, unsigned level,
		    const char *text)
{
	char buf[SX_LOG_TEXT_BYTES + 64 + PART_BYTES];
	const char *name = part ? part->name : "", *colon = part ? ": " : "";
	time_t s = (time_t)(realtime_ns / SX_NS_PER_S);
	int fd = atomic_load_explicit(&output_fd, memory_order_relaxed);
	int journal = atomic_load_explicit(&to_journal, memory_order_relaxed);
	struct tm tm;
	int n;

	atomic_fetch_add_explicit(&lines_put, 1, memory_order_relaxed);
	if (part)
		atomic_fetch_add_explicit(&part->lines, 1, memory_order_relaxed);
	if (journal < 0) {
		journal = fd_is_journal(fd);
		atomic_store(&to_journal, journal);
	}
	if (journal)
		n = snprintf(buf, sizeof(buf), "<%u>%.*s%s%s: %s\n", level, PART_BYTES, name, colon,
			     topic_names[topic], text);
	else if (localtime_r(&s, &tm))
		n = snprintf(buf, sizeof(buf), "%02d:%02d:%02d.%03d %-7s %.*s%s%s: %s\n", tm.tm_hour,
			     tm.tm_min, tm.tm_sec, (int)(realtime_ns % SX_NS_PER_S / 1000000),
			     level_names[level], PART_BYTES, name, colon, topic_names[topic], text);
	else
		n = snprintf(buf, sizeof(buf), "%s %.*s%s%s: %s\n", level_names[level], PART_BYTES, name,
			     colon, topic_names[topic], text);
	/*
	 * One write, so that lines of several threads do not mix. If the pipe is full or stderr is closed,
	 * the line is lost.
	 */
	while (write(fd, buf, (size_t)n) < 0 && errno == EINTR)
		;
}

static void format_text(char text[SX_LOG_TEXT_BYTES], const char *format, va_list args)
{
	int n = vsnprintf(text, SX_LOG_TEXT_BYTES, format, args);

	if (n < 0)
		snprintf(text, SX_LOG_TEXT_BYTES, "(format error) %s", format);
	else if (n >= SX_LOG_TEXT_BYTES)
		memcpy(text + SX_LOG_TEXT_BYTES - 4, "...", 4);
	/* Names from outside must not forge lines or move the cursor of a terminal. */
	sx_make_printable(text);
}

static void put_in_ring(struct ring *ring, enum sx_log_topic topic, enum sx_log_level level,
			const char *format, va_list args)
{
	struct line *line = sx_spsc_reserve(&ring->queue);
	int fd = atomic_load_explicit(&event_fd, memory_order_acquire);

	if (!line) {
		atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
		if (ring->part)
			atomic_fetch_add_explicit(&ring->part->lost, 1, memory_order_relaxed);
		return;
	}
	line->realtime_ns = sx_clock_ns(CLOCK_REALTIME);
	line->topic = (uint8_t)topic;
	line->level = (uint8_t)level;
	format_text(line->text, format, args);
	sx_spsc_commit(&ring->queue);
	if (fd >= 0)
		sx_wake(fd);
}

static void write_args(enum sx_log_topic topic, enum sx_log_level level, const char *format, va_list args)
{
	char text[SX_LOG_TEXT_BYTES];
	int saved = errno;

	if (own_ring) {
		put_in_ring(own_ring, topic, level, format, args);
	} else {
		format_text(text, format, args);
		log_put(own_part, sx_clock_ns(CLOCK_REALTIME), topic, level, text);
	}
	errno = saved;
}

void sx_log_write(enum sx_log_topic topic, enum sx_log_level level, const char *format, ...)
{
	va_list args;

	if (!printed(topic, level))
		return;
	va_start(args, format);
	write_args(topic, level, format, args);
	va_end(args);
}

void sx_log_last(enum sx_log_topic topic, const char *text)
{
	char line[SX_LOG_TEXT_BYTES + 32 + PART_BYTES];
	struct pollfd out = {.fd = atomic_load_explicit(&output_fd, memory_order_relaxed), .events = POLLOUT};
	/* the same format as log_put() writes */
	const char *const parts[] = {atomic_load_explicit(&to_journal, memory_order_relaxed) > 0 ? "<3>"
												 : "error ",
				     own_part ? own_part->name : "",
				     own_part ? ": " : "",
				     topic_names[topic],
				     ": ",
				     text,
				     "\n"};
	const size_t room = own_part ? sizeof(line) : sizeof(line) - PART_BYTES;
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (const char *c = parts[i]; *c && used < room; c++)
			line[used++] = *c;
	if (poll(&out, 1, 1000) > 0)
		while (write(out.fd, line, used) < 0 && errno == EINTR)
			;
}

static int find_name(const char *const *names, int first, int end, const char *word, size_t length)
{
	for (int i = first; i < end; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], word, length))
			return i;
	return -1;
}

int sx_log_levels_parse(struct sx_log_levels *ret, const char *text, struct sx_why *why)
{
	struct sx_log_levels l;

	for (int t = 0; t < SX_LOG_TOPICS; t++)
		l.level[t] = SX_LOG_INFO;
	for (const char *word = text + strspn(text, " ,"); *word; word += strspn(word, " ,")) {
		size_t length = strcspn(word, " ,");
		const char *equals = memchr(word, '=', length);
		const char *level_word = equals ? equals + 1 : word;
		int topic = -1;
		int level = find_name(level_names, SX_LOG_ERROR, SX_LOG_DEBUG + 1, level_word,
				      (size_t)(word + length - level_word));

		if (equals)
			topic = find_name(topic_names, 0, SX_LOG_TOPICS, word, (size_t)(equals - word));
		if (level < 0 || (equals && topic < 0))
			return sx_why_fail(
				-EINVAL, why,
				"'%.*s' is not a log level: error, warning, notice, info, debug, or "
				"TOPIC=LEVEL with topic base, capture, config, daemon, tools",
				(int)(length < 64 ? length : 64), word);
		for (int t = 0; t < SX_LOG_TOPICS; t++)
			if (!equals || t == topic)
				l.level[t] = (enum sx_log_level)level;
		word += length;
	}
	*ret = l;
	return 0;
}

void sx_log_levels_set(const struct sx_log_levels *l)
{
	for (int t = 0; t < SX_LOG_TOPICS; t++)
		atomic_store_explicit(own_part ? &own_part->levels[t] : &levels[t],
				      (uint8_t)(l->level[t] + 1), memory_order_relaxed);
}

static struct ring *ring_at(int i)
{
	return i < RINGS ? &rings[i] : &more_rings[i - RINGS];
}

int sx_log_add_rings(int count)
{
	struct ring *more =
		more_rings ? NULL : aligned_alloc(_Alignof(struct ring), (size_t)count * sizeof(*more));

	if (!more)
		return more_rings ? -EALREADY : -ENOMEM;
	memset(more, 0, (size_t)count * sizeof(*more));
	more_rings = more;
	ring_count = RINGS + count;
	return 0;
}

int sx_log_realtime_begin(void)
{
	if (own_ring)
		return 0;
	for (int i = 0; i < ring_count; i++) {
		struct ring *ring = ring_at(i);
		int expected = RING_FREE;

		if (!atomic_compare_exchange_strong(&ring->state, &expected, RING_OPENING))
			continue;
		if (!ring->queue.slots) /* a ring that had an owner keeps its queue and indices */
			sx_spsc_init(&ring->queue, ring->lines, sizeof(struct line), RING_LINES);
		ring->part = own_part;
		atomic_store(&ring->state, RING_TAKEN);
		own_ring = ring;
		return 0;
	}
	return -EAGAIN;
}

void sx_log_realtime_end(void)
{
	if (!own_ring)
		return;
	atomic_store(&own_ring->state, RING_ENDED);
	own_ring = NULL;
}

int sx_log_fd(void)
{
	int fd = atomic_load(&event_fd);

	if (fd >= 0)
		return fd;
	fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	atomic_store_explicit(&event_fd, fd, memory_order_release);
	return fd;
}

static int drain_ring(struct ring *ring)
{
	int state = atomic_load(&ring->state), n = 0;
	const struct line *line;
	uint64_t lost;

	if (state == RING_FREE || state == RING_OPENING)
		return 0;
	for (; n < 2 * RING_LINES && (line = sx_spsc_peek(&ring->queue)); n++) {
		log_put(ring->part, line->realtime_ns, line->topic, line->level, line->text);
		sx_spsc_release(&ring->queue);
	}
	lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);
	if (lost != ring->lost_logged) {
		struct sx_log_part *own = own_part;

		own_part = ring->part;
		sx_log(BASE, WARNING,
		       "%" PRIu64 " log lines of a real-time thread were lost, its ring was full",
		       lost - ring->lost_logged);
		own_part = own;
		ring->lost_logged = lost;
	}
	if (state == RING_ENDED && !sx_spsc_count(&ring->queue))
		atomic_store(&ring->state, RING_FREE);
	return n;
}

int sx_log_drain(void)
{
	int fd = atomic_load(&event_fd), n = 0;
	uint64_t count;

	/* Clear the eventfd before the rings are read: a later line then makes it readable again. */
	if (fd >= 0 && read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	for (int i = 0; i < ring_count; i++)
		n += drain_ring(ring_at(i));
	return n;
}

uint64_t sx_log_lines(void)
{
	return atomic_load_explicit(own_part ? &own_part->lines : &lines_put, memory_order_relaxed);
}

uint64_t sx_log_lost(void)
{
	uint64_t lost = 0;

	if (own_part)
		return atomic_load_explicit(&own_part->lost, memory_order_relaxed);
	for (int i = 0; i < ring_count; i++)
		lost += atomic_load_explicit(&ring_at(i)->lost, memory_order_relaxed);
	return lost;
}

#define REMIND_NS (60 * SX_NS_PER_S)
#define QUIET_NS (2 * SX_NS_PER_S)

void sx_condition_hit(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic,
		      enum sx_log_level level, const char *format, ...)
{
	char text[SX_LOG_TEXT_BYTES];
	va_list args;

	if (!c->on) {
		c->on = true;
		c->hits = 0;
		c->began_ns = c->logged_ns = now_ns;
	}
	c->hits++;
	c->last_ns = now_ns;
	if ((c->hits > 1 && now_ns - c->logged_ns < REMIND_NS) || !printed(topic, level))
		return;
	va_start(args, format);
	format_text(text, format, args);
	va_end(args);
	if (c->hits == 1)
		sx_log_write(topic, level, "%s", text);
	else
		sx_log_write(topic, level, "%s (%" PRIu64 " times in %" PRId64 " s)", text, c->hits,
			     (now_ns - c->began_ns) / SX_NS_PER_S);
	c->logged_ns = now_ns;
}

void sx_condition_clear(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic, const char *format,
			...)
{
	char text[SX_LOG_TEXT_BYTES];
	va_list args;

	if (!c->on || now_ns - c->last_ns < QUIET_NS)
		return;
	c->on = false;
	va_start(args, format);
	format_text(text, format, args);
	va_end(args);
	sx_log_write(topic, SX_LOG_NOTICE, "%s (after %" PRIu64 " times in %" PRId64 " s)", text, c->hits,
		     (c->last_ns - c->began_ns) / SX_NS_PER_S);
}
