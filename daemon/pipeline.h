/*
 * From pairs to published frames: contexts, the waiting pair, the ring, and the two threads that serve them.
 *
 * A pipeline is made for one image size. All of its memory is taken by create, nothing while it runs. When a
 * camera comes back with another size, main destroys it and makes a new one. When parameters change live, it
 * goes on with other contexts, which main has made meanwhile (live.h).
 *
 * The words of capture/ and daemon/, each for one thing:
 *   buffer  memory that a camera's driver fills; it is with the driver or ours
 *   image   what one camera has seen once: pixels, in a buffer, a slot or a file
 *   slot    our own memory for the images of a pair that are copied, decoded, read or drawn (capture/slots.h)
 *   pair    a left and a right image of one time (base/pair.h)
 *   ticket  what source v4l2 knows of a pair on its way to the engine and back (capture/v4l2/v4l2_priv.h)
 *   item    a pair between capture thread and frame thread, and who holds it (handover.h)
 *   flight  an engine's context, and the item whose frame it computes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_PIPELINE_H
#define SX_DAEMON_PIPELINE_H

#include <pthread.h>

#include "config/settings.h"
#include "daemon/exchange/exchange.h"
#include "daemon/exchange/handover.h"
#include "daemon/feeds/feeds.h"
#include "daemon/ringer.h"
#include "daemon/telemetry/telemetry.h"
#include "engines/select.h"
#include "ipc/ring.h"
#include "ipc/stream.h"

#define SX_WHY_BYTES 256

/* Why the pipeline ended by itself. */
enum sx_end {
	SX_END_NONE,
	SX_END_FRAMES,	/* as many frames as were asked for */
	SX_END_SOURCE,	/* the source has no more pairs, all were computed */
	SX_END_DATA,	/* no image of the source can be read any more: why */
	SX_END_ENGINE,	/* the engine or the ring failed: why */
	SX_END_CHANGED, /* the camera came back with another size or format */
	SX_END_LOST,	/* the name of a ring was removed: with another ring a new one is made */
	SX_END_TAKEN,	/* another process took the name of a ring: why */
};

/* What create needs; everything outlives the pipeline. */
struct sx_pipeline_config {
	const struct sx_settings *settings;
	struct sx_stixel_params start; /* a ring that is made anew has room for them, too */
	struct sx_engine *engine;
	struct sx_telemetry *telemetry;
	const char *instance, *shm_dir;
	const char *stream_path; /* NULL: no stream */
	int stream_fd;		 /* passed by systemd, -1 none */
	uint64_t frames;	 /* end after so many, 0 never */
	int main_fd;		 /* eventfd that wakes main: something ended, began or was lost */
};

struct sx_flight {
	struct sx_contexts *contexts; /* that context is of; both while a frame is in flight */
	struct sx_context *context;
	struct sx_item *item; /* NULL: free */
	int64_t submitted_ns;
};

struct sx_pipeline {
	struct sx_pipeline_config c;
	struct sx_source_info info; /* size and format that everything below is made for */
	struct sx_handover handover;
	struct sx_ring *ring;
	struct sx_ringer ringer; /* of ring, and of the pairs that are offered */
	struct sx_stream *stream;
	uint64_t epoch;

	/* control: written by main or by one of the threads, read by the others */
	atomic_bool stop;	  /* main: take no more pairs, finish those in flight */
	atomic_bool source_ended; /* capture: no more pairs will come */
	atomic_bool full;	  /* frame: as many were submitted as were asked for */
	_Atomic(enum sx_end) end; /* set once; the thread that did so writes why afterwards */
	char why[SX_WHY_BYTES];	  /* to be read after both threads have been joined */

	struct sx_exchange exchange;
	struct sx_camera_mark camera_mark;
	struct sx_contexts *newest; /* main's: the last ones that were handed over */

	pthread_t capture, frame;
	bool capture_runs, frame_runs;
	/* capture thread; source belongs to main while the thread does not run */
	struct sx_source *source; /* NULL: camera absent */
	struct sx_tune opens;	  /* what a camera that is found is opened with */

	/* frame thread */
	struct sx_flight flights[SX_CONTEXTS_MAX]; /* used in turn, so that frames finish in order */
	struct sx_contexts *contexts;		   /* that the next pair is submitted to */
	struct sx_contexts *leaving;		   /* the ones before, NULL: given back */
	uint64_t last_of_leaving;		   /* frame */
	int context_count;
	enum sx_waits waits; /* of the next pair, which has its flight */
	struct sx_feeds feeds;
	uint64_t submitted, collected;	   /* frames; the newest collected one has this number */
	struct sx_road road;		   /* last one that was measured */
	uint64_t road_frame;		   /* number of its frame; 0: none was */
	unsigned road_calibration;	   /* of the contexts that measured it */
	struct sx_pictures pictures;	   /* of the newest frame */
	uint32_t flags;			   /* STIXEL_FRAME_*, of every frame, whatever its contexts */
	struct stixel_frame_header header; /* what is the same in every frame is filled in once */
	void *bytes;			   /* a packed frame */
	size_t frame_bytes;		   /* of the largest one */
	unsigned images;		   /* that can be published, bits 1u << enum stixel_plane */
	atomic_uint published_images;	   /* with the newest frame; any thread may look */
};

/*
 * Makes everything for pairs of this size but the output. source is taken over on success (NULL: the camera
 * is absent, the capture thread will look for it). Errors, with why: -ENOMEM, and those of the engine.
 */
int sx_pipeline_create(struct sx_pipeline **ret, const struct sx_pipeline_config *c, struct sx_source *source,
		       const struct sx_source_info *info, char *why, size_t why_bytes);
/* Makes ring and stream as the settings want them; readers see them. Negative errno with why: destroy. */
int sx_pipeline_open_output(struct sx_pipeline *p, char *why, size_t why_bytes);
/* Starts the threads. Negative errno with why; then destroy. */
int sx_pipeline_start(struct sx_pipeline *p, char *why, size_t why_bytes);
/* Tells the threads to finish what is in flight and end. Returns at once; any number of times. */
void sx_pipeline_stop(struct sx_pipeline *p);
/* True when both threads have ended within timeout_ms; then they are joined. */
bool sx_pipeline_join(struct sx_pipeline *p, int timeout_ms);
/* Only after a join, or before start. *source (may be NULL) gets the source, else it is closed. */
void sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source);

/* Main. What contexts are made for with these settings, if their camera is that of the newest ones. */
struct sx_contexts_plan sx_pipeline_plan(const struct sx_pipeline *p, const struct sx_settings *s);
/* Main. Bytes of the largest frame with these parameters; 0: too large for any. The room is frame_bytes. */
size_t sx_pipeline_frame_bytes(const struct sx_pipeline *p, const struct sx_stixel_params *s);
/* Slots that a source needs for this many contexts. */
int sx_pipeline_slots(const struct sx_settings *s);
bool sx_pipeline_fits(const struct sx_source_info *a, const struct sx_source_info *b);

/* Inside the pipeline. */
void *sx_capture_thread(void *pipeline);
void *sx_frame_thread(void *pipeline);
/* Main or capture thread, no frame in flight: the engine reads pairs where they lie. unpin before close. */
void sx_pipeline_pin(struct sx_pipeline *p);
void sx_pipeline_unpin(struct sx_pipeline *p);
/* Main, or any of the two threads: notes the first reason to end, stops both, wakes main. */
void sx_pipeline_end(struct sx_pipeline *p, enum sx_end end, const char *why);

#endif
