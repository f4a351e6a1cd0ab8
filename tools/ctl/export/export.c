/*
 * Implements stixelctl export: writes a recording again, with messages that Foxglove, rerun and other viewers
 * draw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tools/ctl/ctl.h"
#ifdef SX_HAVE_PROTOBUF
#include "base/contract.h"
#include "recording/codec.h"
#include "recording/messages/drawn.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "tools/common/outfile.h"
#include "tools/common/status_line.h"

#define CHUNK_BYTES ((size_t)4 << 20)

struct exporter {
	const struct ctl *c;
	struct sx_recording *recording;
	struct sx_drawn drawn;
	struct sx_recording_writer writer;
	struct sx_outfile file;
	struct sx_status_line line;
	const struct sx_record *record; /* record that is being written */
	uint64_t damaged;
};

/* Returns the kinds of messages to add, as bits. */
static unsigned kinds_of(const struct ctl *c)
{
	const unsigned few =
		1u << STIXEL_MESSAGE_FRAME | 1u << STIXEL_MESSAGE_TRANSFORM | 1u << STIXEL_MESSAGE_SCAN;

	return c->no_scene ? few : few | 1u << STIXEL_MESSAGE_SCENE | 1u << STIXEL_MESSAGE_POINTS;
}

static int sink(void *user, const void *data, size_t bytes)
{
	struct exporter *e = user;

	errno = 0;
	return fwrite(data, 1, bytes, e->file.f) == bytes ? 0 : errno ? -errno : -EIO;
}

/* Gives an image as the recording has it, so that a JPEG is not coded a second time. */
static int recorded_jpeg(void *user, unsigned kind, const struct sx_image *image, unsigned char **data,
			 size_t *bytes)
{
	const struct exporter *e = user;
	const struct sx_span *jpeg = &e->record->jpeg[kind];

	sx_must_index(kind, STIXEL_PLANE_RIGHT + 1);
	if (!jpeg->bytes)
		return 0;
	*data = malloc(jpeg->bytes);
	if (!*data)
		return -ENOMEM;
	memcpy(*data, jpeg->at, jpeg->bytes);
	*bytes = jpeg->bytes;
	return 1;
}

/* Starts the output at the first record, because only then is the name of the instance known. */
static int begin_export(struct exporter *e)
{
	const char *instance = sx_recording_info(e->recording)->instance;
	const struct sx_recording_params params = {.instance = instance[0] ? instance : "stixel",
						   .compress = sx_codec_built(),
						   .chunk_bytes = CHUNK_BYTES,
						   .jpeg = recorded_jpeg,
						   .period_ns = INT64_MAX};
	int r;

	if (e->writer.mcap)
		return 0;
	r = sx_recording_begin(&e->writer, sink, e, &params);
	if (r == 0)
		r = sx_drawn_begin(&e->drawn, &e->writer, kinds_of(e->c), e->c->near_m, e->c->far_m);
	return r;
}

/* Writes the frame unchanged and the messages made from it. */
static int add_frame(struct exporter *e, const struct stixel_frame *frame)
{
	int r = sx_recording_frame(&e->writer, frame);

	if (r == 0)
		r = sx_drawn_frame(&e->drawn, &e->writer, frame);
	return r;
}

/*
 * Returns the time of a record. Older recordings have 0 before the first frame; the start of the recording
 * then counts.
 */
static int64_t time_of(const struct exporter *e, const struct sx_record *record)
{
	return record->time_ns ? record->time_ns : sx_recording_info(e->recording)->anchor_realtime_ns;
}

static int add_record(struct exporter *e, const struct sx_record *record)
{
	int r = begin_export(e);

	if (r < 0)
		return r;
	e->record = record;
	switch (record->kind) {
	case SX_RECORD_FRAME:
		return add_frame(e, &record->frame);
	case SX_RECORD_PUBLISHER:
		sx_drawn_classes(&e->drawn, record->publisher->classes);
		return sx_recording_publisher(&e->writer, record->publisher, NULL, record->time_ns);
	case SX_RECORD_GAP:
		return sx_recording_gap(&e->writer, record->gap, time_of(e, record));
	default:
		return 0;
	}
}

static void say_damage(struct exporter *e, const struct sx_record *record)
{
	e->damaged++;
	sx_status_line_clear(&e->line);
	ctl_fail(0, "%s: %" PRIu64 " bytes from byte %" PRIu64 " are not a whole record (%s): skipped",
		 e->c->operands[0], record->bytes, record->offset, record->why);
}

/*
 * Converts all records. Returns 0 or a negative error; *reading: true if reading failed, false if writing
 * failed.
 */
static int convert(struct exporter *e, bool *reading)
{
	const struct sx_recording_state *s = sx_recording_state(e->recording);
	struct sx_record record;
	int r = 0;

	while (r >= 0 && !ctl_stopped) {
		r = sx_recording_next(e->recording, &record);
		*reading = r < 0;
		if (r <= 0)
			return r;
		if (record.kind == SX_RECORD_DAMAGE)
			say_damage(e, &record);
		else
			r = add_record(e, &record);
		sx_status_line_show(&e->line,
				    s->total_bytes ? (double)s->offset / (double)s->total_bytes : -1.0,
				    "%" PRIu64 " frames", e->writer.end.frames);
	}
	return r < 0 ? r : -EINTR;
}

static int cannot_write(const struct exporter *e, int error)
{
	if (error == -EEXIST)
		return ctl_exists(e->c->operands[1]);
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s", e->c->operands[1], strerror(-error));
}

static int conclude(struct exporter *e)
{
	const struct sx_recording_state *s = sx_recording_state(e->recording);

	if (s->cut_bytes)
		ctl_fail(0,
			 "%s: the file ends within a record, at byte %" PRIu64 "; all before it was exported",
			 e->c->operands[0], s->cut_at);
	else if (!s->ended)
		ctl_fail(0, "%s: the end of the recording is missing; all that is there was exported",
			 e->c->operands[0]);
	printf("%s: %" PRIu64 " frames, %.1f MB%s\n", e->c->operands[1], e->writer.end.frames,
	       (double)ftello(e->file.f) / 1e6,
	       e->writer.end.frames ? "" : "; there was no frame in the recording");
	return s->cut_bytes || e->damaged ? EX_DATAERR : 0;
}

static int export_run(struct exporter *e)
{
	bool reading = false;
	int r, code;

	sx_status_line_begin(&e->line, stderr);
	r = convert(e, &reading);
	sx_status_line_clear(&e->line);
	if (r == -EINTR)
		return ctl_fail(CTL_NOTHING, "stopped: %s was not written", e->c->operands[1]);
	if (r < 0 && reading)
		return ctl_fail(ctl_reading_code(r), "%s: %s", e->c->operands[0], sx_recording_strerror(r));
	if (r == 0)
		r = begin_export(e); /* the recording had no records */
	if (r == 0)
		r = sx_recording_end(&e->writer);
	if (r < 0)
		return cannot_write(e, r);
	code = conclude(e);
	r = sx_outfile_commit(&e->file);
	return r < 0 ? cannot_write(e, r) : code;
}

int ctl_export(const struct ctl *c)
{
	static struct exporter e;
	struct sx_why why = {""};
	int r, code = ctl_check_new(c, c->operands[1]);

	if (code)
		return code;
	e.c = c;
	r = sx_recording_open(&e.recording, c->operands[0], &why);
	if (r < 0)
		return ctl_fail(ctl_reading_code(r), "%s", why.text);
	sx_recording_on_wait(e.recording, ctl_unless_stopped, NULL);
	r = c->force ? sx_outfile_open(&e.file, c->operands[1])
		     : sx_outfile_open_new(&e.file, c->operands[1]);
	code = r < 0 ? cannot_write(&e, r) : export_run(&e);
	sx_outfile_abort(&e.file);
	sx_recording_finish(&e.writer);
	sx_drawn_finish(&e.drawn);
	sx_recording_close(e.recording);
	return code;
}
#else
int ctl_export(const struct ctl *c)
{
	return ctl_fail(
		EX_USAGE,
		"export: this stixelctl was built without protobuf (protobuf-compiler, protobuf-c-compiler, "
		"libprotobuf-c-dev)");
}
#endif
