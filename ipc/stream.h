/*
 * frames.sock: frames as packets for processes that cannot map memory, and a bell for those that poll().
 * SOCK_SEQPACKET, one packet a frame (include/stixel.h). A slow client loses frames, counted, and is never
 * waited for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_STREAM_H
#define SX_IPC_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/stixel.h"

#define SX_STREAM_CLIENTS_MAX 64

struct sx_stream_params {
	const char *path; /* of the socket; the caller holds the lock of the instance */
	/* -1, or a listening SOCK_SEQPACKET socket (socket activation): then path is not made */
	int listen_fd;
	uint64_t epoch;		 /* as in the frames */
	size_t frame_bytes;	 /* of the largest frame, without a plane */
	int clients;		 /* most at a time, 1..64; 0: 16 */
	int heartbeat_period_ms; /* 0: 1000 */
	int stall_ms; /* not reading for so long, a client makes room when all places are taken; 0: 10000 */
	mode_t mode;  /* 0: 0660 */
	gid_t group;  /* (gid_t)-1: as the process has it */
};

struct sx_stream_counters {
	int clients;		/* connected now */
	uint64_t accepted;	/* since start; likewise below */
	uint64_t refused;	/* too many clients */
	uint64_t garbage;	/* closed for what they sent */
	uint64_t sent, dropped; /* frames, all clients together */
	uint64_t shrunk; /* frames that were too large for a packet and went without plane or stixels */
};

struct sx_stream_client {
	pid_t pid;
	uid_t uid;
	uint64_t sent, dropped;
	unsigned want; /* STIXEL_WANT_* */
};

struct sx_stream;

/*
 * A sentence in why on error: -EADDRINUSE something that is not our socket lies at path, -ENAMETOOLONG, ...
 */
int sx_stream_create(struct sx_stream **ret, const struct sx_stream_params *p, char *why, size_t why_bytes);
/* What lies at path is another's by now: it is not removed in the end. */
void sx_stream_disown(struct sx_stream *s);
/* Closes all clients; removes the socket unless it was passed in. Accepts NULL. */
void sx_stream_destroy(struct sx_stream *s);

/*
 * Thread: frame (one publisher). Hands a packed frame over and wakes the loop. Never blocks: one copy into
 * one of three buffers taken in turn. The frame's plane stays behind when it does not fit.
 */
void sx_stream_publish(struct sx_stream *s, const void *frame);
/* Any thread. Images that clients ask for now: bits 1u << enum stixel_plane. */
unsigned sx_stream_images(const struct sx_stream *s);
/* Any thread. */
void sx_stream_set_state(struct sx_stream *s, enum stixel_state state);

/* Thread: main. One descriptor to poll for reading; then sx_stream_dispatch(), which does not wait. */
int sx_stream_fd(const struct sx_stream *s);
void sx_stream_dispatch(struct sx_stream *s);

/* Thread: main. */
void sx_stream_counters(const struct sx_stream *s, struct sx_stream_counters *ret);
/* Fills up to room entries, returns how many clients there are. */
int sx_stream_clients(const struct sx_stream *s, struct sx_stream_client *ret, int room);
/* Largest packet that a client can be sent, bytes. */
size_t sx_stream_packet_bytes(const struct sx_stream *s);

#endif
