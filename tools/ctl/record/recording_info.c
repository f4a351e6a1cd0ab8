/*
 * Implements stixelctl info: shows the content of a recording, and whether all of it can be read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/clock.h"
#include "recording/recording.h"
#include "tools/common/status_line.h"
#include "tools/ctl/ctl.h"
#include "tools/draw/jpeg.h"

/* Number of damaged places, and of runs of the publisher, that are listed. The totals count all of them. */
enum { TELL = 10 };

struct life {
	uint64_t epoch, frames, lost;
	char version[32];
};

struct summary {
	uint64_t frames, lost, lives, planes;
	/* span: sum over the runs of the publisher, without the time between them, ns */
	int64_t first_ns, last_ns, span_ns;
	int64_t first_realtime_ns;
	uint64_t plain_bytes;
	uint32_t width, height;
	struct life life[TELL];
	struct {
		uint64_t offset, bytes;
		const char *why;
	} damage[TELL];
	int damages;
	uint64_t epoch; /* epoch of the previous frame */
};

static struct life *life_of(struct summary *s)
{
	return s->lives && s->lives <= TELL ? &s->life[s->lives - 1] : NULL;
}

/* Begins a run of the publisher: at its publisher record, or at its first frame if that record is lost. */
static void begin_life(struct summary *s, uint64_t epoch, const char *version)
{
	struct life *life;

	s->epoch = epoch;
	s->lives++;
	life = life_of(s);
	if (!life)
		return;
	life->epoch = epoch;
	snprintf(life->version, sizeof(life->version), "%s", version);
}

static void add_frame(struct summary *s, const struct stixel_frame_header *h)
{
	bool same = s->frames && h->epoch == s->epoch;

	if (h->epoch != s->epoch)
		begin_life(s, h->epoch, "");
	if (!s->frames) {
		s->first_ns = h->published_ns;
		s->first_realtime_ns = sx_recorded_ns_add(
			h->anchor_realtime_ns, sx_recorded_ns_since(h->published_ns, h->anchor_monotonic_ns));
	}
	if (same && h->published_ns > s->last_ns)
		s->span_ns =
			sx_recorded_ns_add(s->span_ns, sx_recorded_ns_since(h->published_ns, s->last_ns));
	s->last_ns = h->published_ns;
	s->frames++;
	s->plain_bytes += h->frame_bytes;
	s->width = h->image_width;
	s->height = h->image_height;
	s->planes |= UINT64_C(1) << (h->plane_kind & 63) | UINT64_C(1) << (h->plane2_kind & 63);
	if (life_of(s))
		life_of(s)->frames++;
}

static void info_add(struct summary *s, const struct sx_record *record)
{
	switch (record->kind) {
	case SX_RECORD_FRAME:
		add_frame(s, record->frame.header);
		break;
	case SX_RECORD_PUBLISHER:
		if (record->publisher->epoch != s->epoch)
			begin_life(s, record->publisher->epoch, record->publisher->version);
		break;
	case SX_RECORD_GAP:
		s->lost += record->gap->lost;
		if (life_of(s))
			life_of(s)->lost += record->gap->lost;
		break;
	case SX_RECORD_DAMAGE:
		if (s->damages < TELL) {
			s->damage[s->damages].offset = record->offset;
			s->damage[s->damages].bytes = record->bytes;
			s->damage[s->damages].why = record->why;
		}
		s->damages++;
	}
}

/* Reads everything. Returns 0, a negative error, or 1 if a signal stopped the reading. */
static int read_all(struct sx_recording *recording, struct summary *s)
{
	const struct sx_recording_state *state = sx_recording_state(recording);
	struct sx_status_line line;
	struct sx_record record;
	int r = 0;

	sx_status_line_begin(&line, stderr);
	while (!ctl_stopped && (r = sx_recording_next(recording, &record)) > 0) {
		info_add(s, &record);
		sx_status_line_show(
			&line, state->total_bytes ? (double)state->offset / (double)state->total_bytes : -1.0,
			"%" PRIu64 " frames", s->frames);
	}
	sx_status_line_clear(&line);
	return ctl_stopped ? 1 : r;
}

static double fps(const struct summary *s)
{
	uint64_t steps = s->frames > s->lives ? s->frames - s->lives : 0;

	return s->span_ns > 0 ? (double)steps * 1e9 / (double)s->span_ns : 0.0;
}

static void format_time(int64_t realtime_ns, char *text, size_t bytes)
{
	time_t t = (time_t)(realtime_ns / SX_NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, bytes, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(text, bytes, "?");
}

static const char *images(const struct summary *s, char *text, size_t bytes)
{
	static const struct {
		enum stixel_plane plane;
		const char *word;
	} all[] = {{STIXEL_PLANE_LEFT, "left"},
		   {STIXEL_PLANE_RIGHT, "right"},
		   {STIXEL_PLANE_DISPARITY, "disparity"}};
	size_t n = 0;

	snprintf(text, bytes, "none");
	for (int i = 0; i < 3; i++)
		if (s->planes >> all[i].plane & 1)
			n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "", all[i].word);
	return text;
}

static const char *end_in_words(const struct sx_recording_state *state)
{
	return state->ended ? "complete" : state->cut_bytes ? "cut within a record" : "not ended in order";
}

static void print_lives(const struct summary *s)
{
	for (uint64_t i = 0; i < s->lives && i < TELL; i++) {
		const struct life *life = &s->life[i];

		printf("publisher  %016" PRIx64 "  %" PRIu64 " frames, %" PRIu64 " lost%s%s\n", life->epoch,
		       life->frames, life->lost, life->version[0] ? ", stixeld " : "", life->version);
	}
	if (s->lives > TELL)
		printf("           and %" PRIu64 " more\n", s->lives - TELL);
}

static void print_text(const struct ctl *c, const struct sx_recording_info *h,
		       const struct sx_recording_state *state, const struct summary *s)
{
	char began[64] = "", shown[64];

	format_time(s->frames ? s->first_realtime_ns : h->anchor_realtime_ns, began, sizeof(began));
	printf("file       %s, by %s, %.1f MB, %s\n", c->operands[0], h->recorder[0] ? h->recorder : "?",
	       (double)state->offset / 1e6, end_in_words(state));
	printf("instance   %s\n", h->instance[0] ? h->instance : "?");
	printf("began      %s\n", began);
	printf("frames     %" PRIu64 " in %.1f s, %.1f a second, %" PRIu64 " lost\n", s->frames,
	       (double)sx_recorded_ns_since(s->last_ns, s->first_ns) / 1e9, fps(s), s->lost);
	if (s->frames)
		printf("content    %" PRIu32 " x %" PRIu32 ", images: %s%s; %.1f kB a frame%s\n", s->width,
		       s->height, images(s, shown, sizeof(shown)), state->jpeg_images ? ", as JPEG" : "",
		       (double)s->plain_bytes / 1e3 / (double)s->frames,
		       state->compressed ? " before compression" : "");
	if (state->jpeg_images && !sx_jpeg_has())
		printf("JPEG       %" PRIu64 " images cannot be read: built without libjpeg\n",
		       state->jpeg_images);
	if (state->images_apart)
		printf("apart      %" PRIu64
		       " images do not follow their frames, as in a file sorted by topic: they "
		       "are not read; sort it by log time, each frame before its images\n",
		       state->images_apart);
	print_lives(s);
	for (int i = 0; i < s->damages && i < TELL; i++)
		printf("damage     %" PRIu64 " bytes from byte %" PRIu64 ": %s\n", s->damage[i].bytes,
		       s->damage[i].offset, s->damage[i].why);
	if (s->damages > TELL)
		printf("damage     in %d more places\n", s->damages - TELL);
	if (state->cut_bytes)
		printf("damage     the file ends within a record: %" PRIu64 " bytes from byte %" PRIu64 "\n",
		       state->cut_bytes, state->cut_at);
}

static json_t *lives_json(const struct summary *s)
{
	json_t *list = json_array();
	char epoch[17];

	for (uint64_t i = 0; i < s->lives && i < TELL; i++) {
		snprintf(epoch, sizeof(epoch), "%016" PRIx64, s->life[i].epoch);
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:I, s:I}", "epoch", epoch, "version",
						s->life[i].version, "frames", (json_int_t)s->life[i].frames,
						"lost", (json_int_t)s->life[i].lost));
	}
	return list;
}

static json_t *damage_json(const struct summary *s, const struct sx_recording_state *state)
{
	json_t *list = json_array();

	for (int i = 0; i < s->damages && i < TELL; i++)
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:s}", "offset", (json_int_t)s->damage[i].offset, "bytes",
					(json_int_t)s->damage[i].bytes, "why", s->damage[i].why));
	if (state->cut_bytes)
		json_array_append_new(list, json_pack("{s:I, s:I, s:s}", "offset", (json_int_t)state->cut_at,
						      "bytes", (json_int_t)state->cut_bytes, "why",
						      "the file ends within a record"));
	return list;
}

/* Returns the file name as JSON. A name need not be UTF-8. */
static json_t *file_json(const char *name)
{
	const struct sx_span bytes = {(const uint8_t *)name, strlen(name)};
	json_t *j = json_string(name);
	char shown[1024];

	if (j)
		return j;
	sx_span_copy(bytes, shown, sizeof(shown));
	return json_string(shown);
}

static void print_json(const struct ctl *c, const struct sx_recording_info *h,
		       const struct sx_recording_state *state, const struct summary *s)
{
	char shown[64];
	json_t *j = json_pack(
		"{s:o, s:s, s:s, s:I, s:b, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:o, s:o}",
		"file", file_json(c->operands[0]), "instance", h->instance, "recorder", h->recorder, "bytes",
		(json_int_t)state->offset, "complete", state->ended, "frames", (json_int_t)s->frames, "lost",
		(json_int_t)s->lost, "seconds", (double)sx_recorded_ns_since(s->last_ns, s->first_ns) / 1e9,
		"fps", fps(s), "began_realtime_ns", (json_int_t)s->first_realtime_ns, "width",
		(json_int_t)s->width, "height", (json_int_t)s->height, "images",
		images(s, shown, sizeof(shown)), "jpeg_images", (json_int_t)state->jpeg_images,
		"images_apart", (json_int_t)state->images_apart, "damaged_places",
		(json_int_t)s->damages + (state->cut_bytes != 0), "publishers", lives_json(s), "damage",
		damage_json(s, state));

	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(j);
}

int ctl_info(const struct ctl *c)
{
	struct sx_recording *recording;
	struct summary s = {0};
	struct sx_why why = {""};
	int r = sx_recording_open(&recording, c->operands[0], &why), code = 0;

	if (r < 0)
		return ctl_fail(ctl_reading_code(r), "%s", why.text);
	sx_recording_on_wait(recording, ctl_unless_stopped, NULL);
	r = read_all(recording, &s);
	(c->json ? print_json : print_text)(c, sx_recording_info(recording), sx_recording_state(recording),
					    &s);
	if (r < 0)
		code = ctl_fail(ctl_reading_code(r), "%s: %s", c->operands[0], sx_recording_strerror(r));
	else if (r > 0)
		code = ctl_fail(CTL_NOTHING, "stopped before the end of the file");
	else if (s.damages || sx_recording_state(recording)->cut_bytes)
		code = EX_DATAERR;
	sx_recording_close(recording);
	return code;
}
