/*
 * The pipeline from pairs to published frames: contexts, the waiting pair, the ring, and the two threads that
 * serve them.
 *
 * A pipeline is made for one image size. sx_pipeline_create() allocates all of its memory, and a running
 * pipeline allocates none. When a camera comes back with another size, main destroys the pipeline and makes a
 * new one. When parameters change live, the pipeline continues with other contexts that main has made
 * meanwhile (live.h).
 *
 * Terms of capture/ and daemon/:
 *   buffer         memory that a camera's driver fills; either the driver or the daemon holds it
 *   image          one picture of one camera: pixels, in a buffer, a slot or a file
 *   slot           memory of the daemon for the images of a pair that are copied, decoded, read or drawn
 *                  (capture/slots.h)
 *   pair           a left and a right image of one time (base/pair.h)
 *   lease          record of source v4l2: the buffers of a pair that is being decoded, or that the pipeline uses.
 *                  Only the capture thread uses it (capture/v4l2/v4l2_priv.h)
 *   queued pair    a pair on its way from the capture thread to the frame thread, with its source, and bits that
 *                  say which of its parts are in use (channels/mailbox.h)
 *   frame in flight
 *                  a frame that is being computed: a context of the engine, and the queued pair that it works on
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_PIPELINE_H
#define SX_DAEMON_PIPELINE_H

#include <pthread.h>

#include "base/log.h"
#include "base/why.h"
#include "config/settings.h"
#include "daemon/channels/control_channel.h"
#include "daemon/channels/mailbox.h"
#include "daemon/cost.h"
#include "daemon/feeds/feeds.h"
#include "daemon/telemetry/telemetry.h"
#include "daemon/waker.h"
#include "engines/select.h"
#include "ipc/ring.h"
#include "ipc/stream.h"

/* Reason why the pipeline ended without a request to stop. */
enum sx_end {
	SX_END_NONE,
	SX_END_FRAMES,	/* the configured number of frames was published */
	SX_END_SOURCE,	/* the source has no more pairs, and all were computed */
	SX_END_DATA,	/* the images of the source can no longer be read; see why */
	SX_END_ENGINE,	/* the engine or the ring failed; see why */
	SX_END_CHANGED, /* the camera came back with another size or format */
	SX_END_LOST,	/* the name of a ring was removed; the new pipeline makes a new ring */
	SX_END_TAKEN,	/* another process took the name of a ring; see why */
};

/* Input of sx_pipeline_create(). All pointers must outlive the pipeline. */
struct sx_pipeline_config {
	const struct sx_settings *settings;
	struct sx_stixel_params start; /* parameters at the start; frame_bytes has room for them, too */
	struct sx_engine *engine;
	struct sx_telemetry *telemetry;
	const char *instance, *shm_dir;
	const char *stream_path;	     /* path of the stream's socket; NULL: no stream */
	int stream_fd;			     /* socket from systemd, -1: none */
	const struct sx_pairs_socket *pairs; /* socket for writers of pairs; fd -1: none */
	uint64_t frames;		     /* number of frames after which the pipeline ends, 0: never */
	int main_fd;		 /* eventfd that wakes main when something ended, began or was lost */
	struct sx_log_part *log; /* part that the threads log for; NULL: the process */
};

struct sx_frame_in_flight {
	struct sx_contexts *contexts; /* owner of context; valid, like context, while a frame is in flight */
	struct sx_context *context;
	struct sx_queued_pair *queued; /* NULL: the entry is free */
	int64_t submitted_ns;
};

struct sx_pipeline {
	struct sx_pipeline_config c;
	struct sx_source_info info; /* image size and format of this pipeline */
	/* camera and rig of info, if the source knows them: the source may end before the pipeline */
	struct sx_camera source_camera;
	struct sx_rig source_rig;
	struct sx_mailbox mailbox;
	struct sx_ring *ring;
	struct sx_waker waker; /* wakes the readers of ring and of the ring of offered pairs */
	struct sx_stream *stream;
	uint64_t epoch;

	/* control: written by main or by one of the threads, read by the others */
	atomic_bool stop;	  /* main: take no more pairs, finish the frames in flight */
	atomic_bool source_ended; /* capture: no more pairs will come */
	atomic_bool full;	  /* frame: the configured number of frames was submitted */
	_Atomic(enum sx_end) end; /* set once; the thread that sets it then writes why */
	struct sx_why why;	  /* read it only after both threads have been joined */

	struct sx_control_channel channel;
	struct sx_camera_mark camera_mark;
	struct sx_contexts *newest; /* main's: the contexts that were handed over last */

	pthread_t capture, frame;
	bool capture_running, frame_running;
	/* capture thread; main owns source while the thread does not run */
	struct sx_source *source;	 /* NULL: camera absent */
	struct sx_camera_controls opens; /* settings to open the camera with when it comes back */

	/* frame thread */
	struct sx_frame_in_flight
		in_flight[SX_CONTEXTS_MAX]; /* used in turn, so that frames finish in order */
	struct sx_contexts *contexts;	    /* contexts for the next pair */
	struct sx_contexts *leaving;	    /* previous contexts; NULL: given back */
	uint64_t last_of_leaving;	    /* number of the last frame of leaving */
	int context_count;
	enum sx_waits waits; /* input that the next pair still waits for; the pair already has its context */
	struct sx_feeds feeds;
	uint64_t submitted, collected; /* frames; the newest collected frame has number collected */
	struct sx_road road;	       /* road that was measured last */
	uint64_t road_frame;	       /* number of its frame; 0: no road was measured yet */
	unsigned road_calibration;     /* plan.calibration of the contexts that measured road */
	/* Offset that was added to the last frame that got one (motion.range_offset = apply). */
	double range_px;
	/* A configuration whose frames have this offset; its pointers may be out of date. */
	struct sx_context_config range_config;
	uint32_t last_id;		   /* greatest identity of an object that was published */
	struct sx_image_stats image_stats; /* statistics of the newest frame's images */
	uint32_t flags;			   /* STIXEL_FRAME_* that every frame has, whatever its contexts */
	struct stixel_frame_header header; /* fields that are equal in every frame are filled in once */
	void *bytes;			   /* a packed frame */
	size_t frame_bytes;		   /* bytes of the largest frame */
	unsigned images;		   /* images that can be published, bits 1u << enum stixel_plane */
	atomic_uint published_images;	   /* images in the newest frame, same bits; any thread may read it */
};

/*
 * Makes everything but the output, for pairs of this size. On success takes over source (NULL: the camera is
 * absent, and the capture thread will look for it). Errors, with why: -ENOMEM, and those of the engine.
 */
int sx_pipeline_create(struct sx_pipeline **ret, const struct sx_pipeline_config *c, struct sx_source *source,
		       const struct sx_source_info *info, struct sx_why *why);
/*
 * Makes ring and stream as the settings say. From then on readers see them. On an error, returns a negative
 * errno with why; destroy the pipeline then.
 */
int sx_pipeline_open_output(struct sx_pipeline *p, struct sx_why *why);
/* Starts the threads. On an error, returns a negative errno with why; destroy the pipeline then. */
int sx_pipeline_start(struct sx_pipeline *p, struct sx_why *why);
/*
 * Requests the threads to finish the frames in flight and end. Returns at once and may be called several
 * times.
 */
void sx_pipeline_stop(struct sx_pipeline *p);
/* Joins the threads. Returns true if both have ended within timeout_ms. */
bool sx_pipeline_join(struct sx_pipeline *p, int timeout_ms);
/*
 * Destroys the pipeline. Call it before start or after a join. Gives the source to *source, or closes it if
 * source is NULL.
 */
void sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source);

/* Thread: main. Returns the plan of contexts for these settings, with the camera of the newest contexts. */
struct sx_contexts_plan sx_pipeline_plan(const struct sx_pipeline *p, const struct sx_settings *s);
/*
 * Thread: main. Returns the bytes of the largest frame with these parameters; 0: too large. The pipeline has
 * room for frame_bytes.
 */
size_t sx_pipeline_frame_bytes(const struct sx_pipeline *p, const struct sx_stixel_params *s);
/* Thread: main. Returns all that decides how long a frame takes: these settings, for images of this size. */
struct sx_frame_cost_case sx_pipeline_cost_case(const struct sx_pipeline *p, const struct sx_settings *s);
/* Returns the number of slots that a source needs with these settings: one for each context, and 2. */
int sx_pipeline_slots(const struct sx_settings *s);
bool sx_pipeline_fits(const struct sx_source_info *a, const struct sx_source_info *b);

/* The functions below are called from inside the pipeline. */
void *sx_capture_thread(void *pipeline);
void *sx_frame_thread(void *pipeline);
/*
 * Pins the memory of pairs, so that the engine reads pairs in place. Call sx_pipeline_unpin() before the
 * source is closed. Thread: main or capture, while no frame is in flight.
 */
void sx_pipeline_pin(struct sx_pipeline *p);
void sx_pipeline_unpin(struct sx_pipeline *p);
/* Stores the first reason to end, stops both threads and wakes main. Thread: main, capture or frame. */
void sx_pipeline_end(struct sx_pipeline *p, enum sx_end end, const char *why);

#endif
