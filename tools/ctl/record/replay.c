/*
 * Implements stixelctl replay: publishes a recording again as the daemon would. Clients can then be developed
 * without a camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/runtime_dirs.h"
#include "ipc/frame.h"
#include "ipc/instance.h"
#include "ipc/ring.h"
#include "ipc/stream.h"
#include "recording/recording.h"
#include "tools/common/status_line.h"
#include "tools/ctl/ctl.h"
#include "tools/draw/jpeg.h"

enum { SLOTS = 8, HEARTBEAT_MS = 1000, PER_COLUMN = 64 };

/*
 * Longest pause between two frames. A longer one, as between two lives of the publisher, is shortened to
 * this.
 */
#define PAUSE_MAX_NS (60 * SX_NS_PER_S)

/*
 * Time from creating the ring to the first frame. A client that waits for the instance looks 20 times per
 * second and must not miss a frame.
 */
#define SETTLE_NS (SX_NS_PER_S / 4)

struct player {
	const struct ctl *c;
	struct sx_recording *recording;
	struct sx_status_line line;
	double rate;
	int lock;
	char dir[96], socket[108];
	/* the publisher's life that is being published */
	struct sx_ring *ring;
	struct sx_stream *stream;
	uint64_t epoch, number;
	uint64_t recorded_epoch;
	size_t capacity, capacity_bare;
	/* time */
	int64_t due_ns;	     /* when the last frame was due, present clock */
	int64_t recorded_ns; /* when the last frame was published, recorded clock; 0: none yet */
	int64_t spacing_ns;  /* interval of the last two frames */
	int64_t beat_ns;
	/* search for --start */
	bool passing;	       /* --start is not reached yet */
	uint64_t passed_epoch; /* epoch of the previous frame; 0: none */
	int64_t passed_ns;     /* when the previous frame was published, recorded clock */
	int64_t into_ns;       /* position of the previous frame in the recording */
	/* counts and buffers */
	uint64_t frames, rounds;
	uint8_t *frame; /* frame being changed */
	size_t frame_room;
};

/* ---- a life of the publisher ---- */

static void end_life(struct player *p)
{
	if (p->ring)
		sx_ring_set_state(p->ring, STIXEL_STATE_STOPPING);
	sx_ring_destroy(p->ring);
	sx_stream_destroy(p->stream);
	p->ring = NULL;
	p->stream = NULL;
}

static int begin_life(struct player *p, struct sx_why *why)
{
	struct sx_ring_params ring = {.instance = p->c->instance,
				      .stream_path = p->socket,
				      .frame_bytes = p->capacity,
				      .flags = STIXEL_RING_REPLAY,
				      .slots = p->c->slots > 0 ? p->c->slots : SLOTS,
				      .heartbeat_period_ms = HEARTBEAT_MS,
				      .group = (gid_t)-1,
				      .exclusive = true};
	struct sx_stream_params stream = {.path = p->socket,
					  .listen_fd = -1,
					  .frame_bytes = p->capacity_bare,
					  .heartbeat_period_ms = HEARTBEAT_MS,
					  .group = (gid_t)-1};
	int r;

	end_life(p);
	p->epoch = ring.epoch = stream.epoch = sx_epoch_new();
	p->number = 0;
	r = sx_ring_create(&p->ring, &ring, why);
	if (r == 0)
		r = sx_stream_create(&p->stream, &stream, why);
	if (r < 0)
		return r;
	sx_ring_set_state(p->ring, STIXEL_STATE_RUNNING);
	sx_stream_set_state(p->stream, STIXEL_STATE_RUNNING);
	return 0;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/*
 * Chooses the frame size of a life: room for this frame and the expected later ones, so that a larger frame does not end
 * the life. Later frames may have motion and objects, even if this one has none.
 */
static void choose_capacity(struct player *p, const struct stixel_frame_header *h)
{
	const struct sx_record_end *end = &sx_recording_state(p->recording)->end;
	size_t bare = h->plane_kind ? h->plane_offset : h->frame_bytes, images = h->frame_bytes - bare;
	size_t typical = sx_frame_bytes_most(h->columns, h->columns * PER_COLUMN, 0);
	bool known = sx_recording_state(p->recording)->end_known &&
		     end->frame_bytes_max <= STIXEL_FRAME_BYTES_MAX &&
		     end->frame_bytes_max_bare <= end->frame_bytes_max;

	if (known) {
		typical = end->frame_bytes_max_bare;
		images = larger(images, end->frame_bytes_max - end->frame_bytes_max_bare);
	}
	p->capacity_bare = larger(bare, typical);
	p->capacity = larger(p->capacity_bare + images, h->frame_bytes);
	if (p->capacity > STIXEL_FRAME_BYTES_MAX)
		p->capacity = STIXEL_FRAME_BYTES_MAX;
	if (known)
		p->capacity = larger(h->frame_bytes, end->frame_bytes_max);
}

/* ---- time ---- */

static void beat(struct player *p)
{
	if (!p->ring || sx_now_ns() - p->beat_ns < SX_NS_PER_S / 2)
		return;
	p->beat_ns = sx_now_ns();
	sx_ring_beat(p->ring);
}

/* Serves the socket and sends heartbeats until until_ns. False: a stop was requested. */
static bool serve_until(struct player *p, int64_t until_ns)
{
	do {
		struct pollfd fd = {.fd = p->stream ? sx_stream_fd(p->stream) : -1, .events = POLLIN};
		int64_t left_ns = until_ns - sx_now_ns();
		struct timespec t = {0};

		if (left_ns > SX_NS_PER_S / 2)
			left_ns = SX_NS_PER_S / 2;
		if (left_ns > 0)
			t = (struct timespec){.tv_sec = left_ns / SX_NS_PER_S,
					      .tv_nsec = left_ns % SX_NS_PER_S};
		if (ppoll(&fd, 1, &t, NULL) > 0)
			sx_stream_dispatch(p->stream);
		beat(p);
	} while (!ctl_stopped && sx_now_ns() < until_ns);
	return !ctl_stopped;
}

/*
 * Waits for input from a pipe. Meanwhile serves clients and sends heartbeats. fd -1: there is other work, so
 * this function does not wait.
 */
static int wait_input(void *user, int fd)
{
	struct player *p = user;

	while (!ctl_stopped) {
		struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
					{.fd = p->stream ? sx_stream_fd(p->stream) : -1, .events = POLLIN}};

		if (poll(fds, 2, fd < 0 ? 0 : 500) > 0 && fds[1].revents)
			sx_stream_dispatch(p->stream);
		beat(p);
		if (fd < 0 || fds[0].revents)
			return 0;
	}
	return -EINTR;
}

/* Limits the pause between two frames. */
static int64_t pause_ns(int64_t step_ns)
{
	if (step_ns < 0) /* the recording machine was restarted in between */
		return 0;
	return step_ns < PAUSE_MAX_NS ? step_ns : PAUSE_MAX_NS;
}

/* Returns when a frame is due, present clock; recorded_ns: when it was published, recorded clock. */
static int64_t due(struct player *p, int64_t recorded_ns)
{
	int64_t now_ns = sx_now_ns(), step_ns = sx_recorded_ns_since(recorded_ns, p->recorded_ns);

	if (!p->frames)
		return p->due_ns = now_ns + SETTLE_NS;
	if (p->c->max)
		return now_ns;
	/* first frame of another round: use the interval of the last two frames */
	if (!p->recorded_ns)
		step_ns = p->spacing_ns;
	else
		p->spacing_ns = step_ns;
	p->due_ns += (int64_t)((double)pause_ns(step_ns) / p->rate);
	/* If far behind (this process was stopped), do not catch up. */
	if (now_ns - p->due_ns > SX_NS_PER_S)
		p->due_ns = now_ns;
	return p->due_ns;
}

/*
 * Shifts all times of a frame by the same amount, so that the frame is published now. Its ages and durations
 * stay the same, and it is as old as a live frame.
 */
static void renew(struct player *p, uint8_t *frame)
{
	struct stixel_frame_header h;
	int64_t shift_ns;

	memcpy(&h, frame, STIXEL_HEADER_BYTES_LEAST);
	shift_ns = sx_recorded_ns_since(sx_now_ns(), h.published_ns);
	h.capture_left_ns = sx_recorded_ns_add(h.capture_left_ns, shift_ns);
	h.capture_right_ns = sx_recorded_ns_add(h.capture_right_ns, shift_ns);
	h.submitted_ns = sx_recorded_ns_add(h.submitted_ns, shift_ns);
	h.published_ns = sx_recorded_ns_add(h.published_ns, shift_ns);
	h.anchor_monotonic_ns = sx_now_ns();
	h.anchor_realtime_ns = sx_clock_ns(CLOCK_REALTIME);
	memcpy(frame, &h, STIXEL_HEADER_BYTES_LEAST);
	sx_frame_restamp(frame, p->epoch, ++p->number);
}

/* ---- frames ---- */

static int copy_frame(struct player *p, const struct stixel_frame *frame)
{
	size_t bytes = frame->header->frame_bytes;

	if (bytes > p->frame_room) {
		uint8_t *more = realloc(p->frame, bytes);

		if (!more)
			return -ENOMEM;
		p->frame = more;
		p->frame_room = bytes;
	}
	memcpy(p->frame, frame->bytes, bytes);
	return 0;
}

static int publish(struct player *p, const struct stixel_frame *frame, struct sx_why *why)
{
	const struct stixel_frame_header *h = frame->header;
	size_t bare = h->plane_kind ? h->plane_offset : h->frame_bytes;
	int r = copy_frame(p, frame);

	if (r < 0)
		return r;
	/*
	 * A new recorded life begins a new life here. So does a frame that does not fit, as after a change of
	 * the image size.
	 */
	if (!p->ring || h->epoch != p->recorded_epoch || h->frame_bytes > p->capacity ||
	    bare > p->capacity_bare) {
		choose_capacity(p, h);
		r = begin_life(p, why);
		if (r < 0)
			return r;
		p->recorded_epoch = h->epoch;
	}
	if (!serve_until(p, due(p, h->published_ns)))
		return 0;
	p->recorded_ns = h->published_ns;
	renew(p, p->frame);
	r = sx_ring_publish(p->ring, p->frame, h->frame_bytes);
	if (r < 0)
		return r;
	sx_stream_publish(p->stream, p->frame);
	sx_stream_dispatch(p->stream);
	p->frames++;
	return 0;
}

static void replay_tell(struct player *p)
{
	const struct sx_recording_state *s = sx_recording_state(p->recording);
	double share = -1.0;

	if (p->c->frames > 0)
		share = (double)p->frames / p->c->frames;
	else if (s->total_bytes)
		share = (double)s->offset / (double)s->total_bytes;
	sx_status_line_show(&p->line, share, "%" PRIu64 " frames%s", p->frames,
			    p->rounds ? ", again and again" : "");
}

static bool enough(const struct player *p)
{
	return ctl_stopped || (p->c->frames > 0 && p->frames >= (uint64_t)p->c->frames);
}

static void say_damage(struct player *p, const struct sx_record *record)
{
	sx_status_line_clear(&p->line);
	if (!p->rounds)
		ctl_fail(0,
			 "%s: %" PRIu64 " bytes from byte %" PRIu64 " are not a whole record (%s): skipped",
			 p->c->operands[0], record->bytes, record->offset, record->why);
}

/*
 * Returns 1 if the frame lies before --start, 0 if it is to be played, or a negative error. Position is
 * computed from published_ns, because the realtime clock may have been set during the recording. Each life
 * has its own times, so the index, if there is one, only skips within a life.
 */
static int pass_over(struct player *p, const struct stixel_frame_header *h)
{
	const int64_t start_ns = (int64_t)p->c->start_ms * 1000000;
	const bool new_life = h->epoch != p->passed_epoch;
	int64_t step_ns = sx_recorded_ns_since(h->published_ns, p->passed_ns);
	int r = 0;

	if (!p->passing)
		return 0;
	if (new_life)
		step_ns = p->passed_epoch ? pause_ns(step_ns) : 0;
	p->into_ns = sx_recorded_ns_add(p->into_ns, step_ns);
	p->passed_epoch = h->epoch;
	p->passed_ns = h->published_ns;
	p->passing = p->into_ns < start_ns;
	if (p->passing && new_life)
		r = sx_recording_seek(
			p->recording, h->epoch,
			sx_recorded_ns_add(h->published_ns, sx_recorded_ns_since(start_ns, p->into_ns)));
	return r < 0 && r != -ESPIPE ? r : p->passing;
}

static int take_frame(struct player *p, const struct stixel_frame *frame, struct sx_why *why)
{
	int r = pass_over(p, frame->header);

	return r == 0 ? publish(p, frame, why) : r < 0 ? r : 0;
}

/* Plays the recording once. Returns 0 or a negative error. */
static int play(struct player *p, struct sx_why *why)
{
	struct sx_record record;
	int r = 0;

	p->recorded_ns = 0;
	p->passing = p->c->start_ms > 0;
	p->passed_epoch = 0;
	p->into_ns = 0;
	while (r == 0 && !enough(p)) {
		r = sx_recording_next(p->recording, &record);
		if (r <= 0)
			return r == -EINTR && ctl_stopped ? 0 : r;
		r = 0;
		if (record.kind == SX_RECORD_FRAME)
			r = take_frame(p, &record.frame, why);
		else if (record.kind == SX_RECORD_DAMAGE)
			say_damage(p, &record);
		replay_tell(p);
	}
	return r;
}

/* Plays all rounds. */
static int play_all(struct player *p, struct sx_why *why)
{
	uint64_t before;
	int r;

	do {
		before = p->frames;
		r = play(p, why);
		if (r < 0 || !p->c->loop || enough(p) || p->frames == before)
			return r;
		p->rounds++;
		r = sx_recording_rewind(p->recording);
	} while (r == 0);
	return sx_why_fail(r, why, "--loop: %s cannot be read again: %s", p->c->operands[0], strerror(-r));
}

static int claim(struct player *p, struct sx_why *why)
{
	int r = sx_runtime_dir(p->c->instance, p->dir, sizeof(p->dir), why);

	if (r < 0)
		return r;
	p->lock = sx_instance_lock(p->dir, NULL, why);
	if (p->lock < 0)
		return p->lock;
	if ((size_t)snprintf(p->socket, sizeof(p->socket), "%s/" SX_FRAMES_SOCKET, p->dir) >=
	    sizeof(p->socket))
		return sx_why_fail(-ENAMETOOLONG, why,
				   "the path of the runtime folder is too long for a socket");
	return 0;
}

static int report(struct player *p, int error, const char *why)
{
	const struct sx_recording_state *s = sx_recording_state(p->recording);

	sx_status_line_clear(&p->line);
	if (error < 0)
		return ctl_fail(*why ? EX_CANTCREAT : ctl_reading_code(error), "%s",
				*why ? why : sx_recording_strerror(error));
	if (s->cut_bytes && !p->rounds)
		ctl_fail(0,
			 "%s: the file ends within a record, at byte %" PRIu64 "; all before it was played",
			 p->c->operands[0], s->cut_at);
	if (!p->frames && !ctl_stopped)
		return ctl_fail(EX_DATAERR, "%s: there is no frame%s in it", p->c->operands[0],
				p->c->start_ms > 0 ? " so late" : "");
	if (s->jpeg_images)
		ctl_fail(
			0,
			"%s: its images are JPEG%s; what is computed from them differs a little: record --raw "
			"keeps every pixel",
			p->c->operands[0],
			sx_jpeg_has()
				? ""
				: ", which cannot be read (built without libjpeg), so they were left out");
	printf("%" PRIu64 " frames of instance '%s' replayed as '%s'\n", p->frames,
	       sx_recording_info(p->recording)->instance, p->c->instance);
	return 0;
}

static bool parse_rate(const char *text, double *rate)
{
	char *end;

	*rate = strtod(text, &end);
	return end != text && !*end && *rate >= 0.01 && *rate <= 1000.0;
}

int ctl_replay(const struct ctl *c)
{
	struct player p = {.c = c, .lock = -1, .rate = 1.0};
	struct sx_why why = {""};
	int r, code;

	if (c->rate && !parse_rate(c->rate, &p.rate))
		return ctl_fail(EX_USAGE, "--rate needs a factor, 0.01 to 1000, not %s", c->rate);
	if (c->slots & (c->slots - 1))
		return ctl_fail(EX_USAGE, "--slots needs a power of two, not %d", c->slots);
	if (c->rate && c->max)
		return ctl_fail(EX_USAGE, "--rate and --max contradict each other");
	r = sx_recording_open(&p.recording, c->operands[0], &why);

	if (r < 0)
		return ctl_fail(ctl_reading_code(r), "%s", why.text);
	sx_recording_on_wait(p.recording, wait_input, &p);
	r = claim(&p, &why);
	if (r == 0) {
		sx_status_line_begin(&p.line, stderr);
		r = play_all(&p, &why);
	}
	end_life(&p);
	code = report(&p, r, why.text);
	if (p.lock >= 0)
		close(p.lock);
	sx_recording_close(p.recording);
	free(p.frame);
	return code;
}
