/*
 * Internals of the writer of pairs: its buffers, its pairs, and its connection to pairs.sock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_PAIRS_H
#define SX_IPC_CLIENT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "base/runtime_dirs.h"
#include "base/why.h"
#include "include/stixel_pairs.h"

#define SX_PAIRS_AWAY_MAX 256 /* most pairs that the daemon has, or that came back and wait for the caller */
#define SX_PAIRS_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)
#define SX_PAIRS_NO_BUFFER UINT32_MAX

enum sx_pairs_state {
	SX_PAIRS_CLOSED,   /* no connection; the next attempt is due at next_ns */
	SX_PAIRS_GREETING, /* the library sends hello and buffers; `greeted` is the number of packets sent */
	SX_PAIRS_AWAITING, /* hello and buffers are sent, and the daemon has not answered yet */
	SX_PAIRS_OPEN	   /* the daemon takes pairs */
};

struct sx_pairs_buffer {
	int fd;
	uint64_t bytes;
	uint8_t *map; /* mapping of a library's buffer; NULL: a buffer of the caller */
	bool away;    /* only for buffers of the library: the daemon uses it */
};

/* A pair that is with the daemon. */
struct sx_pairs_away {
	uint64_t number;
	uint32_t buffer; /* buffer of the library; SX_PAIRS_NO_BUFFER: buffers of the caller */
};

/* A pair in the caller's buffers that came back. */
struct sx_pairs_back {
	uint64_t number;
	uint32_t fate;
};

struct stixel_pairs {
	/* path of pairs.sock in each runtime directory, in the order of attempts; empty: no such directory */
	char path[SX_RUNTIME_DIRS][SX_PAIRS_PATH_BYTES];
	char instance[72]; /* name of the instance; empty: the caller gave a path */
	struct stixel_pairs_format format;
	uint64_t right_offset; /* offset of the right image in a buffer of the library, bytes */
	struct sx_pairs_buffer buffers[STIXEL_PAIRS_BUFFERS_MAX];
	uint32_t buffer_count;
	uint32_t begun;	 /* buffer that the caller fills; SX_PAIRS_NO_BUFFER: none */
	uint64_t number; /* number of the last pair */
	bool fixed;	 /* no more buffers may be added */

	enum sx_pairs_state state;
	int fd;		   /* descriptor of the connection; -1: none */
	uint32_t place;	   /* index of the connection's runtime directory in `path` */
	uint32_t greeted;  /* packets of the greeting that were sent: hello, buffers */
	int64_t since_ns;  /* time of the connection, CLOCK_MONOTONIC */
	int64_t next_ns;   /* earliest time of the next attempt */
	int failed;	   /* result of the last attempt: -EACCES, -ECONNREFUSED (refused), else 0 */
	uint64_t failures; /* number of times that `failed` was set to an error */

	struct sx_pairs_away away[SX_PAIRS_AWAY_MAX];
	uint32_t away_count;
	struct sx_pairs_back back[SX_PAIRS_AWAY_MAX]; /* queue of back_count entries from back_first on */
	uint32_t back_first, back_count;

	struct stixel_pairs_counters count;
	struct sx_why why;
};

/* Connects if an attempt is due, continues the greeting, and takes all answers. Does not wait. */
void sx_pairs_step(struct stixel_pairs *w);
/*
 * Sleeps until sx_pairs_step() may have work, at most until until_ns (CLOCK_MONOTONIC). Returns 0 or -EINTR.
 */
int sx_pairs_sleep(const struct stixel_pairs *w, int64_t until_ns);
/*
 * Sends a pair over an open connection and notes that it is away. Returns 0, -EAGAIN if the daemon does not
 * read, or -ENOTCONN if there is no connection any more.
 */
int sx_pairs_send(struct stixel_pairs *w, const struct stixel_pairs_pair *pair, uint32_t buffer);
/* Ends the connection, if there is one. All pairs that are away come back as lost. Leaves `why` alone. */
void sx_pairs_end(struct stixel_pairs *w);

#endif
