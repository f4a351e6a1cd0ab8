/*
 * Implements stixelctl dump and wait, which read frames through libstixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "ipc/ring.h"
#include "stixel.h"
#include "tools/common/group_hint.h"
#include "tools/common/instances.h"
#include "tools/common/ring_layout.h"
#include "tools/ctl/ctl.h"
#include "tools/draw/stixel_csv.h"

enum { DEFAULT_TIMEOUT_MS = 5000 };

int ctl_explain(const struct ctl *c, int error)
{
	char path[128], hint[SX_GROUP_HINT_BYTES] = "", layout[SX_RING_LAYOUT_BYTES];
	int code =
		error == -EBADMSG || error == -EPROTO || error == -EPROTONOSUPPORT ? EX_DATAERR : CTL_NOTHING;

	if (error == -ENOENT)
		return ctl_absent(c);
	if (error == -EINVAL)
		return ctl_fail(EX_USAGE, "'%s' is not a valid instance name", c->instance);
	if (error == -EPROTONOSUPPORT && sx_ring_other_layout(c->instance, "stixelctl", layout))
		return ctl_fail(code, "instance '%s': %s", c->instance, layout);
	snprintf(path, sizeof(path), SX_SHM_DIR "/" SX_RING_PREFIX "%.90s", c->instance);
	if (error == -EACCES)
		sx_group_hint(path, hint, sizeof(hint));
	return ctl_fail(code, "instance '%s': %s%s", c->instance, stixel_strerror(error), hint);
}

int ctl_timeout_ms(const struct ctl *c)
{
	return c->timeout_ms >= 0 ? c->timeout_ms : DEFAULT_TIMEOUT_MS;
}

#define TELL_MS 1000 /* waiting time before a message, ms */

static int wait_for(struct stixel_reader *reader, int timeout_ms)
{
	int r;

	do {
		r = stixel_wait(reader, timeout_ms);
	} while (r == -EINTR && !ctl_stopped);
	return r;
}

static void tell_waiting(const struct ctl *c, struct stixel_reader *reader)
{
	struct stixel_status status;

	if (stixel_status(reader, &status, sizeof(status)) < 0)
		return;
	if (status.publisher == STIXEL_PUBLISHER_ABSENT)
		ctl_fail(0, "instance '%s' does not run: waiting for it", c->instance);
	else if (status.publisher == STIXEL_PUBLISHER_ALIVE)
		ctl_fail(0, "instance '%s' (%s) has published no frame for a second: waiting for one",
			 c->instance, stixel_state_name(status.state));
	else
		ctl_fail(0, "instance '%s': its publisher is %s: waiting for a frame", c->instance,
			 stixel_publisher_name(status.publisher));
}

int ctl_wait_for_frame(const struct ctl *c, struct stixel_reader *reader, int timeout_ms)
{
	static bool shown; /* true once the message was printed; it is printed once per run */
	const bool tell = !shown && (timeout_ms < 0 || timeout_ms > TELL_MS);
	int r = wait_for(reader, tell ? TELL_MS : timeout_ms);

	if (tell && r == 0 && !ctl_stopped) {
		shown = true;
		tell_waiting(c, reader);
		r = wait_for(reader, timeout_ms < 0 ? timeout_ms : timeout_ms - TELL_MS);
	}
	return r == -EINTR ? 0 : r == 0 ? -ETIMEDOUT : r;
}

int ctl_no_frame(const struct ctl *c, int r, int timeout_ms)
{
	if (r == -ETIMEDOUT)
		return ctl_fail(CTL_NOTHING, "instance '%s' published no frame within %.1f s", c->instance,
				timeout_ms / 1000.0);
	return ctl_explain(c, r);
}

static double focal_baseline(const struct stixel_frame_header *h)
{
	return h->fx * h->baseline_m;
}

static void print_csv(const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;

	printf("# frame %" PRIu64 " epoch %016" PRIx64 " captured %" PRId64 " ns published %" PRId64
	       " ns size %" PRIu32 "x%" PRIu32 " columns %" PRIu32 " stixels %" PRIu32 " road %s\n",
	       h->number, h->epoch, h->capture_left_ns, h->published_ns, h->image_width, h->image_height,
	       h->columns, h->stixel_count, stixel_road_name(h->road_origin));
	sx_csv_header(stdout);
	for (uint32_t i = 0; i < h->stixel_count; i++)
		sx_csv_stixel(stdout, &f->stixels[i], focal_baseline(h));
}

static void print_json(const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;
	const struct stixel_ground road = stixel_ground_of(h);

	printf("{\"number\":%" PRIu64 ",\"epoch\":\"%016" PRIx64 "\",\"capture_left_ns\":%" PRId64
	       ",\"capture_right_ns\":%" PRId64 ",\"published_ns\":%" PRId64 ",\"width\":%" PRIu32
	       ",\"height\":%" PRIu32 ",\"columns\":%" PRIu32 ",\"column_width\":%" PRIu32
	       ",\"road\":{\"origin\":\"%s\",\"slope\":%.9g,\"offset\":%.9g,\"cross\":%.9g,\"axis\":%.9g"
	       ",\"bend\":%.9g,\"bend_row\":%.9g,\"pitch_sigma_rad\":%.9g,\"roll_sigma_rad\":%.9g"
	       ",\"height_sigma_m\":%.9g},\"stage_us\":{",
	       h->number, h->epoch, h->capture_left_ns, h->capture_right_ns, h->published_ns, h->image_width,
	       h->image_height, h->columns, h->column_width, stixel_road_name(h->road_origin), road.slope,
	       road.offset, road.cross, road.axis, road.bend, road.bend_row, road.pitch_sigma_rad,
	       road.roll_sigma_rad, road.height_sigma_m);
	for (unsigned i = 0; i < h->stage_count && i < STIXEL_STAGES; i++)
		printf("%s\"%.*s\":%.3f", i ? "," : "", STIXEL_STAGE_NAME_BYTES, h->stage_name[i],
		       (double)h->stage_ns[i] / 1e3);
	fputs("},\"stixels\":[", stdout);
	for (uint32_t i = 0; i < h->stixel_count; i++) {
		if (i)
			putchar(',');
		sx_json_stixel(stdout, &f->stixels[i], focal_baseline(h));
	}
	puts("]}");
}

/* Prints frames until the requested number is reached. Returns 0 or a negative error. */
static int dump_frames(struct stixel_reader *reader, const struct ctl *c, int frames)
{
	for (int done = 0; (frames == 0 || done < frames) && !ctl_stopped;) {
		const struct stixel_frame *f;
		uint64_t lost = 0;
		int r = ctl_wait_for_frame(c, reader, ctl_timeout_ms(c));

		if (r > 0)
			r = stixel_next(reader, &f, &lost);
		if (r < 0)
			return r;
		if (lost)
			ctl_fail(0, "%" PRIu64 " frames were missed: this output is read too slowly", lost);
		if (r == 0)
			continue;
		if (c->json)
			print_json(f);
		else
			print_csv(f);
		if (fflush(stdout) != 0)
			return errno == EPIPE ? 0 : -EIO;
		done += frames != 0;
	}
	return 0;
}

int ctl_dump(const struct ctl *c)
{
	struct stixel_reader *reader;
	int r;

	r = stixel_open(&reader, c->instance, 0);
	if (r < 0)
		return ctl_explain(c, r);
	r = dump_frames(reader, c, c->frames < 0 ? 1 : c->frames);
	stixel_close(reader);
	return r < 0 ? ctl_no_frame(c, r, ctl_timeout_ms(c)) : 0;
}

static bool is_absent(struct stixel_reader *reader)
{
	struct stixel_status status;

	return stixel_status(reader, &status, sizeof(status)) == 0 &&
	       status.publisher == STIXEL_PUBLISHER_ABSENT;
}

int ctl_wait(const struct ctl *c)
{
	const struct stixel_frame *f;
	struct stixel_reader *reader;
	int r;

	r = stixel_open(&reader, c->instance, STIXEL_OPEN_FOLLOW);
	if (r < 0)
		return ctl_explain(c, r);
	stixel_latest(reader, &f); /* skip an old frame: only a newer one shows that frames arrive */
	r = ctl_wait_for_frame(c, reader, c->timeout_ms);
	if (r > 0)
		r = stixel_latest(reader, &f);
	if (r > 0)
		printf("frame %" PRIu64 "\n", f->header->number);
	r = r == -ETIMEDOUT && is_absent(reader) ? -ENOENT : r;
	stixel_close(reader);
	if (r < 0)
		return ctl_no_frame(c, r, c->timeout_ms);
	return r > 0 ? 0 : CTL_NOTHING;
}
