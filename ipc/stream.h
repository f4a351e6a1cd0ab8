/*
 * frames.sock: sends frames as packets to processes that cannot map memory, and serves as a bell for
 * processes that poll(). SOCK_SEQPACKET, one packet per frame (include/stixel.h). The daemon never waits for
 * a slow client: the client loses frames, and they are counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_STREAM_H
#define SX_IPC_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "include/stixel.h"

#define SX_STREAM_CLIENTS_MAX 64

struct sx_stream_params {
	const char *path; /* path of the socket; the caller holds the lock of the instance */
	/* -1, or a listening SOCK_SEQPACKET socket (socket activation): then no socket is created at path */
	int listen_fd;
	uint64_t epoch;		 /* epoch of the frames */
	size_t frame_bytes;	 /* size of the largest frame, without a plane */
	int clients;		 /* most clients at a time, 1..64; 0: 16 */
	int heartbeat_period_ms; /* 0: 1000 */
	/* if all places are taken, a client that did not read for this long loses its place, ms; 0: 10000 */
	int stall_ms;
	mode_t mode; /* 0: 0660 */
	gid_t group; /* (gid_t)-1: the process's group */
};

struct sx_stream_counters {
	int clients;		/* number of clients connected now */
	uint64_t accepted;	/* clients since start; the counters below also count since start */
	uint64_t refused;	/* clients refused because there were too many */
	uint64_t garbage;	/* clients closed because they sent invalid packets */
	uint64_t sent, dropped; /* frames, sum over all clients */
	uint64_t shrunk;	/* frames that were too large for a packet, sent without plane or stixels */
};

struct sx_stream_client {
	pid_t pid;
	uid_t uid;
	uint64_t sent, dropped;
	unsigned want; /* STIXEL_WANT_* */
};

struct sx_stream;

/*
 * Creates the socket. On error writes an error message to why: -EADDRINUSE (the path is taken by something
 * that is not our socket), -ENAMETOOLONG, ...
 */
int sx_stream_create(struct sx_stream **ret, const struct sx_stream_params *p, struct sx_why *why);
/* Marks the socket path as owned by another process, so that sx_stream_destroy() does not unlink it. */
void sx_stream_disown(struct sx_stream *s);
/* Closes all clients; removes the socket unless it was passed in. Accepts NULL. */
void sx_stream_destroy(struct sx_stream *s);

/*
 * Thread: frame (one publisher). Hands over a packed frame and wakes the loop. Never blocks: it copies the
 * frame once, into one of three rotating buffers. Leaves out the frame's plane if it does not fit.
 */
void sx_stream_publish(struct sx_stream *s, const void *frame);
/* Any thread. Returns the images that clients request now: bits 1u << enum stixel_plane. */
unsigned sx_stream_images(const struct sx_stream *s);
/* Any thread. Sets the state and wakes the loop, which sends it to the clients. */
void sx_stream_set_state(struct sx_stream *s, enum stixel_state state);

/*
 * Thread: main. Returns the descriptor to poll for reading. Then call sx_stream_dispatch(), which does not
 * wait.
 */
int sx_stream_fd(const struct sx_stream *s);
void sx_stream_dispatch(struct sx_stream *s);

/* Thread: main. Copies the counters. dropped includes frames that current clients have missed so far. */
void sx_stream_counters(const struct sx_stream *s, struct sx_stream_counters *ret);
/* Fills up to room entries. Returns the number of clients. */
int sx_stream_clients(const struct sx_stream *s, struct sx_stream_client *ret, int room);
/* Returns the size of the largest packet that a client can receive, bytes. */
size_t sx_stream_packet_bytes(const struct sx_stream *s);

#endif
