/*
 * Reads the state of a publisher from its ring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/ring_look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/read_at.h"
#include "ipc/check.h"
#include "tools/common/instances.h"

enum { TRIES = 8 };

/* Returns the offset of the slot of frame n. */
static uint64_t slot_at(const struct stixel_ring_header *h, uint64_t n)
{
	return h->slots_offset + (n & (h->slot_count - 1)) * (uint64_t)h->slot_stride;
}

/* Reads the header of frame n by the rules of docs/use/shm.md. False: overwritten meanwhile, or damaged. */
static bool frame_header(int fd, const struct stixel_ring_header *h, uint64_t n,
			 struct stixel_frame_header *frame)
{
	const uint64_t at = slot_at(h, n);
	struct stixel_ring_slot before, after;

	memset(frame, 0, sizeof(*frame));
	return sx_read_whole_at(fd, &before, sizeof(before), at) &&
	       sx_read_whole_at(fd, frame, STIXEL_HEADER_BYTES_LEAST, at + h->slot_header_bytes) &&
	       sx_read_whole_at(fd, &after, sizeof(after), at) && before.sequence == 2 * n &&
	       after.sequence == 2 * n && frame->magic == STIXEL_FRAME_MAGIC && frame->epoch == h->epoch &&
	       frame->number == n;
}

/* Reads the newer fields of a header, beyond the least size, if this publisher has them. */
static void frame_rest(int fd, const struct stixel_ring_header *h, struct stixel_frame_header *frame)
{
	const uint64_t at = slot_at(h, frame->number) + h->slot_header_bytes;
	struct stixel_frame_header whole;

	if (frame->header_bytes >= sizeof(whole) && sx_read_whole_at(fd, &whole, sizeof(whole), at) &&
	    whole.number == frame->number)
		*frame = whole;
}

/*
 * Returns the frame rate between the newest frame and the oldest one that is not overwritten soon. If no
 * frame has come for two intervals, the time until now counts.
 */
static double ring_rate(int fd, const struct ctl_ring *r)
{
	const uint64_t kept = r->header.slot_count - 1, head = r->newest.number;
	struct stixel_frame_header oldest;
	int64_t end_ns = r->newest.published_ns, now_ns = sx_now_ns();

	for (uint64_t n = head > kept ? head - kept + 1 : 1; n < head; n++) {
		double step_ns;

		if (!frame_header(fd, &r->header, n, &oldest))
			continue;
		step_ns = (double)(end_ns - oldest.published_ns) / (double)(head - n);
		if (step_ns <= 0.0)
			return (double)NAN;
		if ((double)(now_ns - end_ns) > 2.0 * step_ns)
			step_ns = (double)(now_ns - oldest.published_ns) / (double)(head - n);
		return 1e9 / step_ns;
	}
	return (double)NAN;
}

static int ring_frames(struct ctl_ring *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stixel_ring_live live;
	struct stat st;
	int code = -EPROTO;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && sx_read_whole_at(fd, &r->header, sizeof(r->header), 0))
		code = sx_ring_check(&r->header, STIXEL_RING_MAGIC, (uint64_t)st.st_size);
	for (int i = 0; code == 0 && i < TRIES && !r->newest.magic; i++) {
		if (!sx_read_whole_at(fd, &live, sizeof(live), r->header.live_offset) || !live.head)
			break;
		if (!frame_header(fd, &r->header, live.head, &r->newest))
			r->newest.magic = 0;
	}
	if (code == 0 && r->newest.magic) {
		frame_rest(fd, &r->header, &r->newest);
		r->fps = ring_rate(fd, r);
	}
	close(fd);
	return code;
}

int ctl_ring_look(struct ctl_ring *ret, const char *instance)
{
	struct stixel_reader *reader;
	char path[128];
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->fps = (double)NAN;
	r = stixel_open(&reader, instance, STIXEL_OPEN_LEFTOVER);
	if (r < 0)
		return r;
	r = stixel_status(reader, &ret->status, sizeof(ret->status));
	stixel_close(reader);
	snprintf(path, sizeof(path), SX_SHM_DIR "/" SX_RING_PREFIX "%.90s", instance);
	return r < 0 ? r : ring_frames(ret, path);
}

bool ctl_ring_lives(const struct ctl_ring *r)
{
	return r->status.publisher == STIXEL_PUBLISHER_ALIVE ||
	       r->status.publisher == STIXEL_PUBLISHER_STALLED;
}

bool ctl_ring_replays(const struct ctl_ring *r)
{
	return (r->header.flags & STIXEL_RING_REPLAY) != 0;
}

/* ---- as JSON ---- */

static json_t *known(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* A sigma of 0 means unknown. */
static json_t *ring_road(const struct stixel_frame_header *h)
{
	const struct stixel_ground g = stixel_ground_of(h);
	const double degrees = 180.0 / M_PI;
	bool none = h->road_origin == STIXEL_ROAD_NONE, sure = !none && g.height_sigma_m > 0.0;

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "origin",
			 stixel_road_name(h->road_origin), "horizon_row", known(none ? NAN : h->horizon_row),
			 "pitch_deg", known(none ? NAN : h->pitch_rad * degrees), "roll_deg",
			 known(none ? NAN : g.roll_rad * degrees), "height_m",
			 known(none ? NAN : h->height_m), "pitch_sigma_deg",
			 known(sure ? g.pitch_sigma_rad * degrees : NAN), "roll_sigma_deg",
			 known(sure ? g.roll_sigma_rad * degrees : NAN), "height_sigma_m",
			 known(sure ? g.height_sigma_m : NAN));
}

static void add_newest(json_t *j, const struct stixel_frame_header *h)
{
	const double pixels = (double)h->image_width * h->image_height;

	json_object_set_new(j, "newest",
			    json_pack("{s:I, s:f, s:i, s:i, s:i}", "number", (json_int_t)h->number, "age_ms",
				      (double)stixel_age_ns(h, sx_now_ns()) / 1e6, "width",
				      (int)h->image_width, "height", (int)h->image_height, "columns",
				      (int)h->columns));
	json_object_set_new(j, "stixels",
			    json_pack("{s:i, s:o}", "per_frame", (int)h->stixel_count, "pixels_per_stixel",
				      known(h->stixel_count ? pixels / h->stixel_count : NAN)));
	json_object_set_new(j, "road", ring_road(h));
}

json_t *ctl_ring_status(const struct ctl_ring *r)
{
	const char *state = r->status.publisher == STIXEL_PUBLISHER_ALIVE
				    ? stixel_state_name(r->status.state)
				    : stixel_publisher_name(r->status.publisher);
	char epoch[24], path[128], name[STIXEL_INSTANCE_BYTES + 1];
	json_t *j;

	snprintf(epoch, sizeof(epoch), "%016" PRIx64, r->header.epoch);
	snprintf(name, sizeof(name), "%.*s", STIXEL_INSTANCE_BYTES, r->header.instance);
	snprintf(path, sizeof(path), SX_SHM_DIR "/" SX_RING_PREFIX "%s", name);
	j = json_pack("{s:i, s:s, s:s, s:I, s:s, s:s, s:n, s:b, s:f, s:{s:o}, s:{s:I}, s:{s:s, s:I, s:i}}",
		      "schema", 1, "instance", name, "version", r->status.version, "pid",
		      (json_int_t)r->status.pid, "epoch", epoch, "state", state, "reason", "replay",
		      ctl_ring_replays(r), "uptime_s", (double)(sx_now_ns() - r->header.started_ns) / 1e9,
		      "fps", "last_1s", known(r->fps), "frames", "published", (json_int_t)r->status.head,
		      "ring", "path", path, "bytes", (json_int_t)r->header.total_bytes, "slots",
		      (int)r->header.slot_count);
	if (j && r->newest.magic)
		add_newest(j, &r->newest);
	return j;
}
