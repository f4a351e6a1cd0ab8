/*
 * Log lines on stderr: by topic, with a level for each.
 *
 * Under systemd (JOURNAL_STREAM names stderr) a line is "<4>capture: text", otherwise "12:34:56.789 warning
 * capture: text". One write(2) a line. Real-time threads put lines into a ring of their own, the main thread
 * prints them; a full ring counts what it lost. Who decides logs; who is called returns.
 *
 *	sx_log(CAPTURE, WARNING, "left: %u frames late by more than %u us", n, us);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_LOG_H
#define SX_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of syslog(3). */
enum sx_log_level {
	SX_LOG_ERROR = 3,
	SX_LOG_WARNING = 4,
	SX_LOG_NOTICE = 5,
	SX_LOG_INFO = 6,
	SX_LOG_DEBUG = 7
};

enum sx_log_topic {
	SX_LOG_BASE,	/* the log itself, broken contracts */
	SX_LOG_CAPTURE, /* cameras and other sources */
	SX_LOG_CONFIG,	/* what is configured, and what of it a reload changes */
	SX_LOG_DAEMON,	/* state, engine, outputs */
	SX_LOG_TOOLS,	/* programs beside the daemon */
	SX_LOG_TOPICS
};

/* Longest text of a line; what is longer ends in "...". Control characters become '?'. */
#define SX_LOG_TEXT_BYTES 232

#define sx_log(topic, level, ...) sx_log_write(SX_LOG_##topic, SX_LOG_##level, __VA_ARGS__)

/* Any thread. Keeps errno. In a real-time thread: no allocation, no blocking (formats up to %f and %s). */
void sx_log_write(enum sx_log_topic topic, enum sx_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The last line of a process that ends now, level error: written at once by whichever thread, past the rings,
 * without a time of day. A full pipe has a second to take it. No allocation, no lock, nothing that a signal
 * handler may not do.
 */
void sx_log_last(enum sx_log_topic topic, const char *text);

/* The level of each topic: what is less important is not printed. All start at INFO. */
struct sx_log_levels {
	enum sx_log_level level[SX_LOG_TOPICS];
};

/*
 * "info", "warning capture=debug config=error": words separated by spaces or commas, a level alone is for all
 * topics. -EINVAL with a sentence in why.
 */
int sx_log_levels_parse(struct sx_log_levels *ret, const char *text, char *why, size_t why_bytes);
void sx_log_levels_set(const struct sx_log_levels *levels); /* any thread, at any time */

/*
 * Where lines go, stderr unless said otherwise; looks at JOURNAL_STREAM again. Thread: main, before others.
 */
void sx_log_to(int fd);

/*
 * Makes the calling thread real-time for the log until sx_log_realtime_end(): its lines go through a ring of
 * 64. -EAGAIN when 8 threads have one already. End: after it the ring is free as soon as it has been printed.
 */
int sx_log_realtime_begin(void);
void sx_log_realtime_end(void);

/*
 * An eventfd, readable when a ring has lines; made at the first call, negative errno.
 * Thread: main, before others.
 */
int sx_log_fd(void);
/*
 * Thread: main. Prints what lies in the rings, oldest first per thread, and what was lost.
 * Returns lines printed.
 */
int sx_log_drain(void);
/* Lines written since start, also those that a full pipe or a closed stderr swallowed. Any thread. */
uint64_t sx_log_lines(void);
/* Lines lost in full rings since start. */
uint64_t sx_log_lost(void);

/*
 * Conditions that persist are logged when they begin, once a minute with their count, and when they end:
 *	sx_condition_hit(&late, now, SX_LOG_CAPTURE, SX_LOG_WARNING, "left: frame late by %u us", us);
 *	sx_condition_clear(&late, now, SX_LOG_CAPTURE, "left: frames in time again");
 * The end is logged at the first clear that comes 2 s or more after the last hit, so that a condition which
 * comes and goes every frame is still two lines. A zeroed structure is ready. Thread: one at a time.
 */
struct sx_condition {
	bool on;
	uint64_t hits;
	int64_t began_ns, last_ns, told_ns;
};
void sx_condition_hit(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic,
		      enum sx_log_level level, const char *format, ...) __attribute__((format(printf, 5, 6)));
void sx_condition_clear(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic, const char *format,
			...) __attribute__((format(printf, 4, 5)));

#endif
