/*
 * Inside of libstixel: a reader, and its two ways to frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_READER_H
#define SX_IPC_CLIENT_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/places.h"
#include "include/stixel.h"

/* A SIGKILLed publisher wakes nobody: longest sleep without looking whether it lives. */
#define SX_SLICE_NS INT64_C(200000000)
/* With nothing new, its health is looked at this often at most; how often a publisher is looked for. */
#define SX_HEALTH_NS INT64_C(50000000)

/* Frames in the reader's own memory; grows, never shrinks. */
struct sx_buffer {
	uint8_t *bytes;
	size_t room;
};
/* At least bytes; what was in it stays, also with -ENOMEM. */
int sx_buffer_reserve(struct sx_buffer *b, size_t bytes);

/* ---- ring.c: a ring object, mapped ---- */

struct sx_map {
	int fd;	    /* -1: not attached */
	int pid_fd; /* -1 without */
	/*
	 * Others than those that we trust may cut it short: it is read through fd. Of its map, which ends
	 * behind the live part, only the bell's address is used, by which the kernel knows the waiters.
	 */
	bool foreign;
	const uint8_t *base;
	size_t bytes;
	struct stixel_ring_header header; /* copied once, checked, never read again */
	const struct stixel_ring_live *live;
	bool same_namespace; /* header.pid means the same to us */
	bool stranger;	     /* the pid belongs to another process now */
	bool died;
};

/* Negative errno as stixel_open(); also -EPIPE: its publisher is gone (unless flags have LEFTOVER). */
int sx_map_attach(struct sx_map *m, const char *path, unsigned flags);
void sx_map_detach(struct sx_map *m);
/* A foreign ring that is shorter than its header says. What follows gives 0 then. */
bool sx_map_cut(const struct sx_map *m);
uint64_t sx_map_head(const struct sx_map *m);
uint32_t sx_map_state(const struct sx_map *m);
int64_t sx_map_beat_ns(const struct sx_map *m);
uint32_t sx_map_bell(const struct sx_map *m);
/* Oldest frame that is not about to be overwritten while head is the newest. */
uint64_t sx_map_oldest(const struct sx_map *m, uint64_t head);
/* Copies frame n: 0; -EAGAIN overwritten meanwhile; -EBADMSG damaged; -EPROTO cut short; -ENOMEM. */
int sx_map_read(const struct sx_map *m, uint64_t n, struct sx_buffer *to, struct stixel_frame *frame);
enum stixel_publisher sx_map_health(struct sx_map *m, const char *path, int64_t now_ns);
/* Sleeps until the bell differs from seen, or until (CLOCK_MONOTONIC). 0 or -EINTR. */
int sx_map_sleep(const struct sx_map *m, uint32_t seen, int64_t until_ns);

/* ---- socket.c: a connection to frames.sock ---- */

struct sx_link {
	int fd;			     /* -1: not connected */
	struct stixel_notice notice; /* the last one; magic 0 = none yet */
	uint64_t head;		     /* newest frame when we came, from the first notice */
	int64_t heard_ns;	     /* newest time that its publisher was known to live */
};

enum sx_packet { SX_PACKET_NONE, SX_PACKET_NOTICE, SX_PACKET_FRAME };

/* Connects and sends a hello. Negative errno as stixel_open(). */
int sx_link_connect(struct sx_link *l, const char *path, unsigned want);
void sx_link_close(struct sx_link *l);
/*
 * Takes notices until a frame or nothing comes: a frame is left in the socket (*bytes its size). -EPIPE at
 * the end of the connection.
 */
int sx_link_peek(struct sx_link *l, size_t *bytes);
/* Takes the packet that peek found. Bytes, or negative errno. */
int sx_link_take(struct sx_link *l, struct sx_buffer *to, size_t bytes);
/* Takes everything. -EPIPE at the end of the connection. */
int sx_link_drain(struct sx_link *l);
/* Sends another hello. -EPIPE when the connection has ended. */
int sx_link_want(struct sx_link *l, unsigned want);

/* ---- reader.c, bell.c ---- */

struct stixel_reader {
	unsigned flags;
	char ring_path[PATH_MAX];
	char socket_path[SX_PLACES][112]; /* of the places, asked in turn; empty without */
	struct sx_map map;
	struct sx_link link; /* of the stream */
	struct sx_link bell; /* of a ring: for poll(), and to ask for images */
	unsigned bell_want;  /* STIXEL_WANT_* that it is for; 0 for nothing */
	int64_t bell_ns;     /* when it was last tried, or looked after */
	struct sx_buffer buffer;
	struct stixel_frame frame;
	uint64_t last;		    /* number taken last in this epoch */
	uint64_t epoch;		    /* 0: none yet */
	uint64_t lives;		    /* publishers seen */
	bool opened;		    /* stixel_open() is done */
	bool joined;		    /* stream: at a publisher that ran already, none of its frames seen yet */
	uint64_t ahead;		    /* head whose slot was ahead of it, */
	int64_t ahead_ns;	    /* since when */
	int64_t health_ns;	    /* when health was looked at */
	int ended;		    /* why there will be no more frames from this publisher; 0 there may be */
	struct stixel_status count; /* only its counters are used */
};

static inline bool sx_reader_streams(const struct stixel_reader *r)
{
	return r->flags & STIXEL_OPEN_STREAM;
}

static inline bool sx_reader_attached(const struct stixel_reader *r)
{
	return sx_reader_streams(r) ? r->link.fd >= 0 : r->map.fd >= 0;
}

/*
 * Connects to the first of the instance's places that answers (base/places.h).
 * Negative errno as stixel_open().
 */
int sx_reader_connect(struct stixel_reader *r, struct sx_link *l, unsigned want);
/* Makes the connection beside the ring what it is to be for (STIXEL_WANT_*; 0: none). -ENOTCONN. */
int sx_bell_want(struct stixel_reader *r, unsigned want);
/* At a new publisher: asks for images again. */
void sx_bell_renew(struct stixel_reader *r);
/* While frames flow: asks again when the connection has broken. Looks five times a second at most. */
void sx_bell_keep(struct stixel_reader *r);
/* Empties the bell. True: its other end has closed it. */
bool sx_bell_drain(struct stixel_reader *r);

#endif
