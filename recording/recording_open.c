/*
 * Opens a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/why.h"
#include "recording/recording_priv.h"

#define OLD_MAGIC "STIXREC\n"

static int refuse(int error, const char *path, const char *what, struct sx_why *why)
{
	return sx_why_fail(error, why, "%s %s", strcmp(path, "-") == 0 ? "standard input" : path, what);
}

static int64_t number_of(struct sx_span text)
{
	char number[24];

	sx_span_copy(text, number, sizeof(number));
	return strtoll(number, NULL, 10);
}

/* Takes the metadata that the recorder wrote first. Files of other programs may have any metadata there. */
static void take_metadata(struct sx_recording *r, struct sx_span content)
{
	struct sx_cursor in = {content.at, content.bytes, false}, pairs;
	struct sx_span name = sx_cursor_text(&in), all = sx_cursor_text(&in);

	if (in.failed || !sx_span_is(name, "stixel.recording"))
		return;
	pairs = (struct sx_cursor){all.at, all.bytes, false};
	sx_span_copy(sx_mcap_value(pairs, "instance"), r->info.instance, sizeof(r->info.instance));
	r->info.anchor_monotonic_ns = number_of(sx_mcap_value(pairs, "anchor_monotonic_ns"));
	r->info.anchor_realtime_ns = number_of(sx_mcap_value(pairs, "anchor_realtime_ns"));
}

/*
 * Finds the record at this offset in the window. content->at is NULL if the kind differs, or the record is
 * longer than HEADER_MAX.
 */
static int peek(struct sx_recording *r, uint64_t at, enum sx_mcap_op op, struct sx_span *content)
{
	int64_t have = sx_window_need(r, at + SX_MCAP_HEAD_BYTES);
	struct sx_mcap_record rec;

	content->at = NULL;
	if (have < (int64_t)(at + SX_MCAP_HEAD_BYTES))
		return have < 0 ? (int)have : -ENODATA;
	rec = sx_mcap_head(sx_window_at(r) + at);
	if (rec.op != op || rec.bytes > HEADER_MAX)
		return 0;
	have = sx_window_need(r, at + SX_MCAP_HEAD_BYTES + rec.bytes);
	if (have < (int64_t)(at + SX_MCAP_HEAD_BYTES + rec.bytes))
		return have < 0 ? (int)have : -ENODATA;
	*content = (struct sx_span){sx_window_at(r) + at + SX_MCAP_HEAD_BYTES, (size_t)rec.bytes};
	return 0;
}

/*
 * Reads the header without passing over it: damage in it is reported with the first record. Reads no more
 * bytes than necessary, because a pipe may have no frame for a while.
 */
static int take_header(struct sx_recording *r, const char *path, struct sx_why *why)
{
	int64_t have = sx_window_need(r, SX_MCAP_MAGIC_BYTES);
	struct sx_span content;
	struct sx_cursor in;
	int e;

	if (have < 0)
		return sx_why_fail((int)have, why, "cannot read %s: %s", path, strerror((int)-have));
	if (have == 0)
		return refuse(-ENODATA, path, "is empty: not a recording", why);
	if (have >= 8 && memcmp(sx_window_at(r), OLD_MAGIC, 8) == 0)
		return refuse(
			-EBADMSG, path,
			"is a recording of an older stixelctl, made before recordings were MCAP: that version "
			"can replay it",
			why);
	if (have < (int64_t)SX_MCAP_MAGIC_BYTES ||
	    memcmp(sx_window_at(r), SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES) != 0)
		return refuse(-EBADMSG, path, "is not a recording: no MCAP file", why);
	e = peek(r, SX_MCAP_MAGIC_BYTES, SX_MCAP_HEADER, &content);
	if (e == -ENODATA)
		return refuse(-EBADMSG, path, "ends within its header: there is no frame in it", why);
	if (e < 0)
		return sx_why_fail(e, why, "cannot read %s: %s", path, strerror(-e));
	if (!content.at)
		return 0;
	in = (struct sx_cursor){content.at, content.bytes, false};
	sx_cursor_text(&in);
	sx_span_copy(sx_cursor_text(&in), r->info.recorder, sizeof(r->info.recorder));
	if (strncmp(r->info.recorder, "stixelctl ", 10) != 0)
		return 0;
	e = peek(r, SX_MCAP_MAGIC_BYTES + SX_MCAP_HEAD_BYTES + content.bytes, SX_MCAP_METADATA, &content);
	if (content.at)
		take_metadata(r, content);
	return e < 0 && e != -ENODATA ? sx_why_fail(e, why, "cannot read %s: %s", path, strerror(-e)) : 0;
}

/* Reads the index of a regular file, and refuses a file whose whole index has no frames of stixeld. */
static int look_at_end(struct sx_recording *r, const char *path, struct sx_why *why)
{
	struct stat st;

	if (fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r->seekable = true;
	r->state.total_bytes = (uint64_t)st.st_size;
	sx_summary_read(r);
	if (r->summarized && r->channels_seen && !r->topics[0])
		return refuse(-ENOMSG, path, "is an MCAP file without frames of stixeld", why);
	return 0;
}

int sx_recording_open(struct sx_recording **ret, const char *path, struct sx_why *why)
{
	const int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					      : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return sx_why_fail(-errno, why, "cannot open %s: %s", path, strerror(errno));
	return sx_recording_open_fd(ret, fd, path, why);
}

int sx_recording_open_fd(struct sx_recording **ret, int fd, const char *path, struct sx_why *why)
{
	struct sx_recording *r = calloc(1, sizeof(*r));
	int e;

	if (!r || sx_codec_create(&r->codec) < 0) {
		free(r);
		close(fd);
		return sx_why_fail(-ENOMEM, why, "out of memory");
	}
	r->fresh = true;
	r->fd = fd;
	e = take_header(r, path, why);
	if (e == 0)
		e = look_at_end(r, path, why);
	if (e == 0)
		*ret = r;
	else
		sx_recording_close(r);
	return e;
}

void sx_recording_close(struct sx_recording *r)
{
	if (!r)
		return;
	close(r->fd);
	sx_codec_destroy(r->codec);
	free(r->window);
	free(r->frame);
	free(r->bare);
	for (int i = 0; i <= STIXEL_PLANE_RIGHT; i++)
		sx_bytes_free(&r->jpeg[i]);
	free(r->places);
	free(r);
}

const struct sx_recording_info *sx_recording_info(const struct sx_recording *r)
{
	return &r->info;
}

const struct sx_recording_state *sx_recording_state(const struct sx_recording *r)
{
	return &r->state;
}

void sx_recording_on_wait(struct sx_recording *r, sx_recording_wait_fn *wait, void *user)
{
	r->wait = wait;
	r->user = user;
}

int sx_recording_rewind(struct sx_recording *r)
{
	return r->seekable ? sx_window_jump(r, 0) : -ESPIPE;
}
