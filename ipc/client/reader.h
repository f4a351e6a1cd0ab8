/*
 * Internals of libstixel: a reader, and its two transports for frames (ring and stream).
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

#include "base/runtime_dirs.h"
#include "include/stixel.h"

/* Longest sleep without a check whether the publisher lives: a SIGKILLed publisher wakes no reader. */
#define SX_SLICE_NS INT64_C(200000000)
/*
 * Least interval between two checks of the publisher's health while no frame comes, and between two searches
 * for a publisher.
 */
#define SX_HEALTH_NS INT64_C(50000000)

/* Memory of the reader for one frame. It grows and never shrinks. */
struct sx_buffer {
	uint8_t *bytes;
	size_t room;
};
/* Reserves at least bytes. The content is kept, also after -ENOMEM. */
int sx_buffer_reserve(struct sx_buffer *b, size_t bytes);

/* ---- ring.c: a ring object, mapped ---- */

struct sx_map {
	int fd;	    /* -1: not attached */
	int pid_fd; /* -1: none */
	/*
	 * A user whom the reader does not trust may cut the object short, so the reader reads it through fd.
	 * The map then ends after the live part. Only the address of its bell is used, by which the kernel
	 * identifies waiters.
	 */
	bool foreign;
	const uint8_t *base;
	size_t bytes;
	struct stixel_ring_header header; /* copied once, checked, never read again */
	const struct stixel_ring_live *live;
	bool same_namespace; /* header.pid is valid in our pid namespace */
	bool stranger;	     /* the pid now belongs to another process */
	bool died;
};

/*
 * Attaches to a ring. Returns negative errno as stixel_open(), also -EPIPE: the publisher is gone (unless
 * flags have STIXEL_OPEN_LEFTOVER).
 */
int sx_map_attach(struct sx_map *m, const char *path, unsigned flags);
void sx_map_detach(struct sx_map *m);
/* True if a foreign ring is shorter than its header says. The getters below return 0 then. */
bool sx_map_cut(const struct sx_map *m);
uint64_t sx_map_head(const struct sx_map *m);
uint32_t sx_map_state(const struct sx_map *m);
int64_t sx_map_beat_ns(const struct sx_map *m);
uint32_t sx_map_bell(const struct sx_map *m);
/* Returns the oldest frame that the writer will not overwrite next while head is the newest. */
uint64_t sx_map_oldest(const struct sx_map *m, uint64_t head);
/*
 * Copies frame n. Returns 0, -EAGAIN (overwritten meanwhile), -EBADMSG (damaged), -EPROTO (cut short) or
 * -ENOMEM.
 */
int sx_map_read(const struct sx_map *m, uint64_t n, struct sx_buffer *to, struct stixel_frame *frame);
enum stixel_publisher sx_map_health(struct sx_map *m, const char *path, int64_t now_ns);
/*
 * Sleeps on the bell (the futex word of the ring) until it differs from seen, or until until_ns
 * (CLOCK_MONOTONIC). Returns 0 or -EINTR.
 */
int sx_map_sleep(const struct sx_map *m, uint32_t seen, int64_t until_ns);

/* ---- socket.c: a connection to frames.sock ---- */

struct sx_link {
	int fd;			     /* -1: not connected */
	struct stixel_notice notice; /* the last one received; magic 0 = none yet */
	uint64_t head;		     /* newest frame at the time of connecting, from the first notice */
	int64_t heard_ns;	     /* latest time at which the publisher was known to live */
};

enum sx_packet { SX_PACKET_NONE, SX_PACKET_NOTICE, SX_PACKET_FRAME };

/* Connects and sends a hello. Returns negative errno as stixel_open(). */
int sx_link_connect(struct sx_link *l, const char *path, unsigned want);
void sx_link_close(struct sx_link *l);
/*
 * Reads notices until the next packet is a frame or the socket is empty. Leaves a frame in the socket and
 * sets *bytes to its size. Returns -EPIPE at the end of the connection.
 */
int sx_link_peek(struct sx_link *l, size_t *bytes);
/* Reads the packet that sx_link_peek() found. Returns its bytes, or negative errno. */
int sx_link_take(struct sx_link *l, struct sx_buffer *to, size_t bytes);
/* Reads and discards all packets. Returns -EPIPE at the end of the connection. */
int sx_link_drain(struct sx_link *l);
/* Sends another hello. Returns -EPIPE if the connection has ended. */
int sx_link_want(struct sx_link *l, unsigned want);

/* ---- reader.c, bell.c ---- */

struct stixel_reader {
	unsigned flags;
	char ring_path[PATH_MAX];
	/* paths of the socket in the runtime directories, in the order of attempts; empty: no such directory */
	char socket_path[SX_RUNTIME_DIRS][112];
	struct sx_map map;
	struct sx_link link; /* connection of a reader of frames.sock */
	struct sx_link bell; /* connection beside a ring: for poll(), and to request images */
	unsigned bell_want;  /* STIXEL_WANT_* of the bell connection; 0: no bell connection is wanted */
	int64_t bell_ns;     /* time of the last attempt to open or check the bell connection */
	struct sx_buffer buffer;
	struct stixel_frame frame;
	uint64_t last;	/* number of the last frame taken in this epoch */
	uint64_t epoch; /* 0: no publisher seen yet */
	uint64_t lives; /* number of publishers seen */
	bool opened;	/* stixel_open() has succeeded */
	/* stream: connected to a publisher that was already running, and received none of its frames yet */
	bool joined;
	uint64_t ahead;	   /* head at which the newest slot was ahead of head */
	int64_t ahead_ns;  /* time when that was first seen */
	int64_t health_ns; /* time of the last health check */
	int ended;	   /* negative errno: this publisher sends no more frames; 0: more may come */
	struct stixel_status count; /* only the counters are used */
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
 * Connects to the first runtime directory of the instance that answers (base/runtime_dirs.h). Returns
 * negative errno as stixel_open().
 */
int sx_reader_connect(struct stixel_reader *r, struct sx_link *l, unsigned want);
/*
 * Opens, changes or closes (want 0) the connection beside the ring, for these STIXEL_WANT_*. Returns 0 or
 * -ENOTCONN.
 */
int sx_bell_want(struct stixel_reader *r, unsigned want);
/* Requests images again from a new publisher. */
void sx_bell_renew(struct stixel_reader *r);
/* While frames arrive: requests images again if the connection broke. Checks at most five times a second. */
void sx_bell_keep(struct stixel_reader *r);
/* Reads all packets of the bell connection. True: the publisher has closed it. */
bool sx_bell_drain(struct stixel_reader *r);

#endif
