/*
 * Implements stixelctl record: writes the frames of an instance to a file as they are published.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "recording/codec.h"
#include "recording/file_queue.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "tools/common/args.h"
#include "tools/common/ask.h"
#include "tools/common/status_line.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/record/forecast.h"
#include "tools/ctl/record/record_file.h"
#include "tools/ctl/ring_look.h"
#include "tools/draw/jpeg.h"
#ifdef SX_HAVE_PROTOBUF
#include "recording/messages/drawn.h"
#endif

enum { SLICE_MS = 200, CONFIG_MS = 200 };
/*
 * Bytes and time after which buffered data become a chunk. A crash loses this much. A pipe has smaller
 * values, so that its reader is not late.
 */
#define FILE_BYTES ((size_t)4 << 20)
#define FILE_NS SX_NS_PER_S
#define PIPE_BYTES ((size_t)1 << 20)
#define PIPE_NS (SX_NS_PER_S / 10)
#define QUALITY 90 /* quality of the JPEG images */
/* Longest wait of the first frame for the requested images. */
#define IMAGES_NS SX_NS_PER_S
/* Bytes that the disk may fall behind before frames are lost: 0.75 s of images, or 30 s of stixels. */
#define QUEUE_BYTES ((size_t)32 << 20)

struct recorder {
	const struct ctl *c;
	struct stixel_reader *reader;
	struct sx_recording_writer writer;
	struct sx_file_queue *queue;
	struct sx_status_line line;
	struct record_file file;
	uint64_t put_bytes, head_bytes; /* bytes written to the queue in all, and before the first frame */
	uint64_t first_bytes;		/* bytes up to the end of the first frames */
	struct record_forecast forecast;
	void *shrunk; /* copy of a frame without the images that are not recorded */
	size_t shrunk_bytes;
	uint64_t epoch; /* epoch of the previous frame; 0: none */
	uint64_t number;
	int64_t began_ns;   /* time of the first frame */
	int64_t asked_ns;   /* time at which the recorder requested images */
	int64_t patient_ns; /* end of the wait for images of the first frame; 0: no frame yet */
	bool absence_reported;
	/*
	 * Images to record, bits 1u << enum stixel_plane. Images that only another reader has requested are
	 * left out. named: the command line names the images. Otherwise the recorder takes whichever of them
	 * the frames have.
	 */
	unsigned images;
	bool named;
#ifdef SX_HAVE_PROTOBUF
	struct sx_drawn drawn;
#endif
};

/* ---- the file ---- */

static int sink(void *user, const void *data, size_t bytes)
{
	struct recorder *r = user;

	r->put_bytes += bytes;
	if (!r->writer.end.frames)
		r->head_bytes = r->put_bytes;
	return sx_file_queue_put(r->queue, data, bytes);
}

static int code(void *user, unsigned kind, const struct sx_image *image, unsigned char **data, size_t *bytes)
{
	const struct recorder *r = user;

	*data = sx_jpeg_code(image, r->c->quality ? r->c->quality : QUALITY, false, bytes);
	return *data ? 1 : -ENOMEM;
}

/* Adds the channels of the messages that viewers draw. */
static int begin_drawn(struct recorder *r)
{
#ifdef SX_HAVE_PROTOBUF
	const unsigned few = 1u << STIXEL_MESSAGE_TRANSFORM | 1u << STIXEL_MESSAGE_SCAN;
	const unsigned kinds = r->c->no_scene ? few : few | 1u << STIXEL_MESSAGE_SCENE;

	if (!r->c->stixels_only)
		return sx_drawn_begin(&r->drawn, &r->writer, kinds, r->c->near_m, r->c->far_m);
#endif
	return 0;
}

static int begin_file(struct recorder *r)
{
	const struct sx_recording_params params = {.instance = r->c->instance,
						   .compress =
							   r->c->compress || (!r->c->raw && sx_codec_built()),
						   .jpeg = r->c->raw || !sx_jpeg_has() ? NULL : code,
						   .chunk_bytes = r->file.regular ? FILE_BYTES : PIPE_BYTES,
						   .period_ns = r->file.regular ? FILE_NS : PIPE_NS};
	int e = sx_file_queue_create(&r->queue, r->file.fd, QUEUE_BYTES, &ctl_stopped);

	if (e < 0)
		return e;
	if (r->file.regular)
		sx_file_queue_guard(r->queue);
	e = sx_recording_begin(&r->writer, sink, r, &params);
	return e < 0 ? e : begin_drawn(r);
}

/* Moves the file to its final name once its first frames are written. */
static int place_file(struct recorder *r)
{
	if (!record_file_beside(&r->file) || !r->writer.end.frames || r->put_bytes == r->head_bytes)
		return 0;
	if (!r->first_bytes)
		r->first_bytes = r->put_bytes;
	if (sx_file_queue_written(r->queue) < r->first_bytes)
		return 0;
	return record_file_place(&r->file);
}

/* Writes the end of the recording and checks that everything written is in the file. */
static int end_file(struct recorder *r, int error)
{
	int e = error;

	if (e == 0)
		e = sx_recording_end(&r->writer);
	if (e == 0)
		e = sx_file_queue_flush(r->queue);
	if (e == 0 && r->file.regular && fsync(r->file.fd) < 0)
		e = -errno;
	if (e == 0 && sx_file_queue_touched(r->queue)) {
		e = record_file_whole(&r->file, r->writer.end.frames);
		e = e == 0 ? -ESTALE : e < 0 ? e : 0;
	}
	return e < 0 ? e : place_file(r);
}

/* Prints why the file is incomplete and what is left of it. Returns the exit code. */
static int tell_file(const struct recorder *r, int error)
{
	const double mb = (double)sx_file_queue_written(r->queue) / 1e6;
	const char *name = r->file.name;

	if (error == -EEXIST)
		return ctl_fail(EX_CANTCREAT, "%s: another file came to its place; nothing was recorded",
				name);
	if (error == -ENOENT)
		return ctl_fail(EX_CANTCREAT,
				"%s was removed or replaced while it was written: its %" PRIu64
				" frames are lost",
				name, r->writer.end.frames);
	if (error == -ESTALE)
		return ctl_fail(EX_CANTCREAT,
				"another process truncated or overwrote %s while it was written, after %.1f "
				"MB: frames are lost; 'stixelctl info' counts those that are whole",
				name, mb);
	if (record_file_beside(&r->file))
		return ctl_fail(EX_CANTCREAT, "cannot write beside %s: %s; the file that was there is kept",
				name, strerror(-error));
	return ctl_fail(EX_CANTCREAT,
			"cannot write %s: %s, after %.1f MB; every whole frame in it can be read", name,
			strerror(-error), mb);
}

/* ---- frames ---- */

static void note(struct recorder *r, const char *what)
{
	sx_status_line_clear(&r->line);
	ctl_fail(0, "instance '%s' %s", r->c->instance, what);
}

/* Copies the frame without the images that are not recorded to the recorder's own memory. */
static int strip(struct recorder *r, const struct stixel_frame *frame, struct stixel_frame *bare)
{
	size_t bytes = frame->header->frame_bytes;
	int64_t kept;
	void *p;

	if (bytes > r->shrunk_bytes) {
		p = realloc(r->shrunk, bytes);
		if (!p)
			return -ENOMEM;
		r->shrunk = p;
		r->shrunk_bytes = bytes;
	}
	kept = sx_frame_keep_images(r->shrunk, r->shrunk_bytes, frame, r->images);
	return kept < 0 ? -EBADMSG : stixel_parse(bare, r->shrunk, (size_t)kept);
}

/* Writes the names of the daemon's classes by label, with a space between; "": it has none, or is silent. */
static void ask_classes(const char *instance, char *to, size_t room)
{
	struct sx_reply reply;
	json_t *status = ctl_ask_status(instance, CONFIG_MS, &reply), *each;
	size_t i, used = 0;

	*to = '\0';
	json_array_foreach(sx_answer_find(status, "semantics.classes"), i, each)
	{
		const int wrote =
			snprintf(to + used, room - used, "%s%s", i ? " " : "", sx_answer_text(each, "name"));

		used += wrote > 0 && (size_t)wrote < room - used ? (size_t)wrote : 0;
	}
	json_decref(status);
	sx_reply_finish(&reply);
}

/* Records the publisher, with its configuration if the daemon sends it to this user. */
static int note_publisher(struct recorder *r, const struct stixel_frame_header *first)
{
	struct sx_record_publisher p = {.epoch = first->epoch};
	struct stixel_status status;
	const struct sx_question q = {.name = r->c->instance, .target = "/config", .timeout_ms = CONFIG_MS};
	struct sx_reply reply;
	int e;

	if (stixel_status(r->reader, &status, sizeof(status)) == 0 && status.epoch == first->epoch) {
		p.pid = status.pid;
		memcpy(p.version, status.version, sizeof(p.version));
	}
	ask_classes(r->c->instance, p.classes, sizeof(p.classes));
	if (r->epoch)
		note(r, "was restarted");
	r->epoch = first->epoch;
	r->number = 0;
	r->absence_reported = false;
	e = sx_socket_ask(&q, &reply);
	e = sx_recording_publisher(&r->writer, &p, e == 200 ? reply.body : NULL,
				   sx_recorded_realtime_ns(first, first->published_ns));
	sx_reply_finish(&reply);
	return e;
}

/* Returns the images of a frame as bits 1u << enum stixel_plane. */
static unsigned images_of(const struct stixel_frame_header *h)
{
	return (1u << (h->plane_kind & 31) | 1u << (h->plane2_kind & 31)) & ~1u;
}

/* Puts into words which images are recorded. */
static void name_images(const struct recorder *r, char *text, size_t bytes)
{
	const uint64_t planes = r->writer.end.planes,
		       pair = planes & (1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT);
	const char *name = !pair			      ? "no image"
			   : pair == 1u << STIXEL_PLANE_LEFT  ? "left image"
			   : pair == 1u << STIXEL_PLANE_RIGHT ? "right image"
							      : "both images";

	snprintf(text, bytes, "%s%s%s", name,
		 !pair		  ? ""
		 : r->writer.jpeg ? " as JPEG"
				  : " without loss",
		 planes >> STIXEL_PLANE_DISPARITY & 1 ? " and disparity" : "");
}

/* Prints a forecast of the recording's size, as soon as the first frames allow it. */
static int tell_forecast(struct recorder *r, const struct stixel_frame_header *h)
{
	char images[64], text[256];
	struct statvfs disk;
	uint64_t room = 0;
	int e;

	if (!record_forecast_frame(&r->forecast, h))
		return 0;
	e = sx_recording_flush(&r->writer);
	if (e < 0)
		return e;
	if (r->file.regular && fstatvfs(r->file.fd, &disk) == 0)
		room = (uint64_t)disk.f_bavail * disk.f_frsize;
	name_images(r, images, sizeof(images));
	if (record_forecast_tell(&r->forecast, r->put_bytes, images, room, text, sizeof(text))) {
		sx_status_line_clear(&r->line);
		ctl_fail(0, "%s", text);
	}
	return 0;
}

/* Writes a frame and the messages that viewers draw. */
static int write_frame(struct recorder *r, const struct stixel_frame *frame)
{
	int e = sx_recording_frame(&r->writer, frame);

#ifdef SX_HAVE_PROTOBUF
	if (e == 0)
		e = sx_drawn_frame(&r->drawn, &r->writer, frame);
#endif
	return e < 0 ? e : tell_forecast(r, frame->header);
}

/*
 * Returns true if the recording waits for a frame with images. Images arrive a moment after the request. The
 * recording begins with the first frame that has them, or without images if they do not come in time. A frame
 * published before the request does not count: it has images that another reader requested, and the next frame
 * may lack them. A replay has its images from the beginning or never.
 */
static bool too_early(struct recorder *r, const struct stixel_frame_header *h)
{
	const unsigned there = h->published_ns < r->asked_ns ? 0 : images_of(h);
	struct ctl_ring ring;

	if (r->began_ns || (r->named ? !(r->images & ~there) : r->images & there))
		return false;
	if (!r->patient_ns) {
		r->patient_ns = sx_now_ns();
		if (ctl_ring_look(&ring, r->c->instance) == 0 && !ctl_ring_replays(&ring))
			r->patient_ns += IMAGES_NS;
	}
	return sx_now_ns() < r->patient_ns;
}

static int note_gap(struct recorder *r, uint64_t lost, enum sx_gap_reason reason)
{
	struct sx_record_gap gap = {
		.epoch = r->epoch, .number = r->number ? r->number + 1 : 0, .lost = lost, .reason = reason};

	return sx_recording_gap(&r->writer, &gap, 0);
}

static int keep(struct recorder *r, const struct stixel_frame *frame, uint64_t lost)
{
	const struct stixel_frame_header *h = frame->header;
	struct stixel_frame bare;
	int e = 0;

	if (too_early(r, h))
		return 0;
	if (h->epoch != r->epoch)
		e = note_publisher(r, h);
	if (e == 0 && lost && r->began_ns)
		e = note_gap(r, lost, SX_GAP_OVERRUN);
	if (e == 0 && images_of(h) & ~r->images) {
		e = strip(r, frame, &bare);
		frame = &bare;
	}
	r->number = h->number;
	if (!r->began_ns)
		r->began_ns = sx_now_ns();
	return e < 0 ? e : write_frame(r, frame);
}

static bool enough(const struct recorder *r)
{
	return ctl_stopped || (r->c->frames > 0 && r->writer.end.frames >= (uint64_t)r->c->frames) ||
	       (r->c->duration_ms > 0 && r->began_ns &&
		sx_now_ns() - r->began_ns >= (int64_t)r->c->duration_ms * 1000000);
}

static void record_tell(struct recorder *r)
{
	const struct sx_record_end *end = &r->writer.end;
	double seconds = r->began_ns ? (double)(sx_now_ns() - r->began_ns) / 1e9 : 0.0;
	double mb = (double)sx_file_queue_written(r->queue) / 1e6;
	double share = -1.0;

	if (r->c->frames > 0)
		share = (double)end->frames / r->c->frames;
	else if (r->c->duration_ms > 0)
		share = seconds * 1e3 / r->c->duration_ms;
	sx_status_line_show(&r->line, share,
			    "%" PRIu64 " frames, %.1f s, %.1f MB, %.1f MB/s, %" PRIu64 " lost", end->frames,
			    seconds, mb, seconds > 0.0 ? mb / seconds : 0.0, end->lost);
}

/*
 * Takes the frames in the ring. Returns 1: go on, 0: enough frames, or a negative error; *reading: the
 * instance caused the error.
 */
static int take_frames(struct recorder *r, bool *reading)
{
	const struct stixel_frame *frame;
	uint64_t lost;
	int e, kept = 0;

	do {
		lost = 0;
		e = stixel_next(r->reader, &frame, &lost);
		if (e == 1)
			kept = keep(r, frame, lost);
		else if (e == -EBADMSG && r->began_ns) /* before the first frame nothing is missing */
			kept = note_gap(r, lost + 1, SX_GAP_DAMAGED);
	} while ((e == 1 || e == -EBADMSG) && kept == 0 && !enough(r));
	if (kept < 0)
		return kept;
	*reading = e < 0 && e != -EBADMSG;
	return *reading ? e : !enough(r);
}

/* Prints once per absence that the instance is not running. */
static void tell_absence(struct recorder *r)
{
	struct stixel_status status;

	if (stixel_status(r->reader, &status, sizeof(status)) < 0 ||
	    status.publisher != STIXEL_PUBLISHER_ABSENT || r->absence_reported)
		return;
	r->absence_reported = true;
	note(r, r->epoch ? "has ended: waiting for it to come back" : "is not running yet: waiting for it");
}

/* Returns the time to wait for a frame, ms. The wait ends before buffered data must be written. */
static int slice_ms(const struct recorder *r)
{
	const struct sx_recording_writer *w = &r->writer;
	int64_t left_ns = w->began_ns + w->period_ns - sx_now_ns();

	if (!w->began_ns || left_ns > SLICE_MS * INT64_C(1000000))
		return SLICE_MS;
	return left_ns > 0 ? (int)((left_ns + 999999) / 1000000) : 0;
}

/*
 * Records until enough. Returns the error that ended the recording, 0 if it ended as requested; *reading:
 * true if the instance caused the error, false if the file did.
 */
static int record_run(struct recorder *r, bool *reading)
{
	int e = 1, placed;

	while (e > 0 && !enough(r)) {
		e = stixel_wait(r->reader, slice_ms(r));
		*reading = e < 0 && e != -EINTR;
		if (e == 0)
			tell_absence(r);
		if (e > 0)
			e = take_frames(r, reading);
		else if (e == 0 || e == -EINTR)
			e = 1;
		if (e > 0 && sx_recording_tick(&r->writer) < 0)
			e = r->writer.error;
		if (e > 0) {
			placed = place_file(r);
			e = placed < 0 ? placed : e;
		}
		record_tell(r);
	}
	return e < 0 ? e : 0;
}

/*
 * Reports requested images that are missing. The daemon copies only images that output.planes has room for.
 */
static void tell_missing_images(const struct recorder *r)
{
	static const struct {
		enum stixel_plane kind;
		const char *name;
	} images[] = {{STIXEL_PLANE_LEFT, "left image"},
		      {STIXEL_PLANE_RIGHT, "right image"},
		      {STIXEL_PLANE_DISPARITY, "disparity"}};
	const unsigned missing = r->images & ~(unsigned)r->writer.end.planes;

	if (!r->named && r->images && r->writer.end.frames && !r->writer.end.planes)
		ctl_fail(0, "no image came: see output.planes of the instance");
	for (size_t i = 0; r->named && r->writer.end.frames && i < sizeof(images) / sizeof(images[0]); i++)
		if (missing >> images[i].kind & 1)
			ctl_fail(0, "no %s came: see output.planes of the instance", images[i].name);
}

static int record_finish(struct recorder *r, int error, bool reading)
{
	const struct sx_record_end *end = &r->writer.end;
	int file = end_file(r, reading ? 0 : error);
	double mb = (double)sx_file_queue_written(r->queue) / 1e6;

	sx_status_line_clear(&r->line);
	/*
	 * -EPIPE: the reader of the pipe needs no more. How much of the queued data reached a full disk is
	 * not known here.
	 */
	if (file < 0 && file != -EPIPE)
		return tell_file(r, file);
	if (record_file_beside(&r->file))
		return ctl_fail(CTL_NOTHING, "no frame came: %s is unchanged", r->file.name);
	fprintf(strcmp(r->c->operands[0], "-") == 0 ? stderr : stdout,
		"%s: %" PRIu64 " frames in %.1f s, %.1f MB, %" PRIu64 " lost%s\n", r->file.name, end->frames,
		(double)sx_recorded_ns_since(end->last_ns, end->first_ns) / 1e9, mb, end->lost,
		end->publishers > 1 ? ", the instance was restarted in between" : "");
	tell_missing_images(r);
	if (reading)
		return ctl_explain(r->c, error);
	return 0;
}

static int record(struct recorder *r)
{
	bool reading = false;
	int e = begin_file(r);

	if (e < 0)
		return r->queue ? tell_file(r, e)
				: ctl_fail(EX_CANTCREAT, "cannot write %s: %s", r->file.name, strerror(-e));
	if (r->images && !r->c->raw && !sx_jpeg_has())
		ctl_fail(0, "built without libjpeg: images are recorded raw");
	sx_status_line_begin(&r->line, stderr);
	e = record_run(r, &reading);
	return record_finish(r, e, reading);
}

int ctl_record_words(const struct ctl *c)
{
	unsigned images;

	if (c->images && !sx_parse_images(c->images, &images))
		return ctl_fail(EX_USAGE,
				"--images needs one or two of left, right, disparity, or none, not %s",
				c->images);
	if (c->stixels_only && (c->images || c->raw || c->quality || c->no_scene))
		return ctl_fail(EX_USAGE,
				"--stixels-only leaves out images and scene: it takes none of --images, "
				"--raw, --quality and --no-scene");
	if (c->raw && c->quality)
		return ctl_fail(EX_USAGE, "--raw and --quality contradict each other");
	if (c->compress && !sx_codec_built())
		return ctl_fail(EX_USAGE, "--compress: this stixelctl was built without zstd");
	return 0;
}

int ctl_record(const struct ctl *c)
{
	struct recorder r = {.c = c, .named = c->images != NULL};
	int e, code;

	if (c->images)
		sx_parse_images(c->images, &r.images);
	else if (!c->stixels_only)
		r.images = 1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT;
	e = stixel_open(&r.reader, c->instance, STIXEL_OPEN_FOLLOW);
	if (e == 0 && r.images)
		e = stixel_want_images(r.reader, r.images);
	r.asked_ns = sx_now_ns();
	if (e < 0) {
		stixel_close(r.reader);
		return ctl_explain(c, e);
	}
	code = record_file_open(&r.file, c->operands[0], c->force);
	if (code == 0)
		code = record(&r);
	sx_file_queue_destroy(r.queue);
#ifdef SX_HAVE_PROTOBUF
	sx_drawn_finish(&r.drawn);
#endif
	sx_recording_finish(&r.writer);
	stixel_close(r.reader);
	free(r.shrunk);
	record_file_close(&r.file);
	return code;
}
