/*
 * Log lines on stderr. Each topic has its level.
 *
 * Under systemd (JOURNAL_STREAM names stderr) a line is "<4>capture: text", otherwise "12:34:56.789 warning
 * capture: text". Each line is one write(2). A real-time thread puts its lines into its own ring, and the
 * main thread prints them. A full ring counts the lines that it lost. The function that decides what to do
 * about an error logs it; the functions that it calls return it.
 *
 *	sx_log(CAPTURE, WARNING, "left: %u frames late by more than %u us", n, us);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_LOG_H
#define SX_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

/* Levels, with the numbers of syslog(3). */
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
	SX_LOG_CONFIG,	/* the configuration, and the keys that a reload changes */
	SX_LOG_DAEMON,	/* state, engine, outputs */
	SX_LOG_TOOLS,	/* programs beside the daemon */
	SX_LOG_TOPICS
};

/* Longest text of a line, bytes. A longer text is cut and ends in "...". Control characters become '?'. */
#define SX_LOG_TEXT_BYTES 232

#define sx_log(topic, level, ...) sx_log_write(SX_LOG_##topic, SX_LOG_##level, __VA_ARGS__)

/*
 * Logs a line. Any thread. Keeps errno. In a real-time thread it does not allocate or block (formats up to %f
 * and %s).
 */
void sx_log_write(enum sx_log_topic topic, enum sx_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Writes the last line of a process that ends now, with level error. The calling thread writes it at once,
 * past the rings, without a time of day. Waits at most one second if the pipe is full. It is safe in a signal
 * handler: no allocation, no lock.
 */
void sx_log_last(enum sx_log_topic topic, const char *text);

/* Level of each topic. Less important lines are not printed. All levels start at INFO. */
struct sx_log_levels {
	enum sx_log_level level[SX_LOG_TOPICS];
};

/*
 * Parses levels such as "info" or "warning capture=debug config=error": words separated by spaces or commas.
 * A level alone is for all topics. -EINVAL with a sentence in why.
 */
int sx_log_levels_parse(struct sx_log_levels *ret, const char *text, struct sx_why *why);
/* Sets the levels of the calling thread's part, or of the process. Any thread, at any time. */
void sx_log_levels_set(const struct sx_log_levels *levels);

/*
 * A part of a process that logs under its own name and with its own levels: one instance of several. A line of
 * a thread that has joined the part begins with "NAME: ". The part counts its lines. Set name and zero the
 * rest. The part must live as long as the process. Processes without parts log without a name.
 */
struct sx_log_part {
	const char *name;
	_Atomic uint64_t lines, lost;
	_Atomic uint8_t levels[SX_LOG_TOPICS]; /* number of the least important level plus one; 0: INFO */
};
/*
 * Makes the calling thread log for this part from now on. NULL: for the process. Threads that it starts do not
 * inherit the part. Call it before sx_log_realtime_begin().
 */
void sx_log_join(struct sx_log_part *part);
/* Returns the part that the calling thread has joined, or NULL. */
struct sx_log_part *sx_log_part(void);

/*
 * Sets the descriptor for lines (stderr at start), and checks JOURNAL_STREAM again. Thread: main, before
 * other threads start.
 */
void sx_log_to(int fd);

/*
 * Makes the calling thread real-time for the log until sx_log_realtime_end(): its lines go through a ring of
 * 64 lines. -EAGAIN: 8 threads, or more by sx_log_add_rings(), have a ring already. After
 * sx_log_realtime_end() the ring is free when its lines have been printed.
 */
int sx_log_realtime_begin(void);
void sx_log_realtime_end(void);
/* Adds rings for this number of further real-time threads, once. -ENOMEM, -EALREADY. Thread: main, before other threads start. */
int sx_log_add_rings(int count);

/*
 * Returns an eventfd that is readable when a ring has lines. The first call creates it. Negative errno.
 * Thread: main, before other threads start.
 */
int sx_log_fd(void);
/*
 * Prints the lines in the rings, oldest first for each thread, and the number of lost lines. Returns the
 * number of lines printed. Thread: main.
 */
int sx_log_drain(void);
/*
 * Returns the number of lines that the calling thread's part, or else the whole process, has written since
 * start. Lines that a full pipe or a closed stderr lost count, too. Any thread.
 */
uint64_t sx_log_lines(void);
/* Returns the number of lines lost in full rings since start, of the same threads. */
uint64_t sx_log_lost(void);

/*
 * A condition that may last. It is logged when it begins, once a minute with its count, and when it ends:
 *	sx_condition_hit(&late, now, SX_LOG_CAPTURE, SX_LOG_WARNING, "left: frame late by %u us", us);
 *	sx_condition_clear(&late, now, SX_LOG_CAPTURE, "left: frames in time again");
 * The end is logged at the first clear that comes 2 s or more after the last hit. So a condition that comes
 * and goes with every frame gives only two lines. A zeroed structure is ready. Thread: one at a time.
 */
struct sx_condition {
	bool on;
	uint64_t hits;
	int64_t began_ns, last_ns, logged_ns;
};
void sx_condition_hit(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic,
		      enum sx_log_level level, const char *format, ...) __attribute__((format(printf, 5, 6)));
void sx_condition_clear(struct sx_condition *c, int64_t now_ns, enum sx_log_topic topic, const char *format,
			...) __attribute__((format(printf, 4, 5)));

#endif
