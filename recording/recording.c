/*
 * Reads a recording through one window of memory in which every record lies whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/check.h"
#include "ipc/crc32c.h"
#include "ipc/why.h"
#include "recording/recording_codec.h"

#define WINDOW_MIN ((size_t)256 << 10)
#define CONTENT_MAX (STIXEL_FRAME_BYTES_MAX + 4096u)
#define HEADER_MAX 4096u

struct sx_recording {
	int fd;
	bool seekable;
	int (*wait)(void *user, int fd);
	void *user;
	uint8_t *window; /* what lies in memory: [begin, end) of room */
	size_t room, begin, end;
	bool eof;
	struct sx_recording_header header;
	struct sx_recording_state state; /* state.offset: of window[begin] in the file */
	struct sx_record_codec *codec;
	uint64_t bad_at, bad_bytes; /* damage that is being passed over */
	const char *bad_why;
	struct sx_record_publisher publisher;
	struct sx_record_gap gap;
};

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* ---- the window ---- */

static int make_room(struct sx_recording *r, size_t bytes)
{
	size_t room = r->room;
	uint8_t *p;

	if (r->begin) {
		memmove(r->window, r->window + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	while (room < bytes)
		room = room ? 2 * room : WINDOW_MIN;
	if (room == r->room)
		return 0;
	p = realloc(r->window, room);
	if (!p)
		return -ENOMEM;
	r->window = p;
	r->room = room;
	return 0;
}

/*
 * Tries to have so many bytes in the window. How many there are: fewer only at the end of the file;
 * negative errno.
 */
static int64_t need(struct sx_recording *r, size_t bytes)
{
	while (r->end - r->begin < bytes && !r->eof) {
		ssize_t n;

		if (r->room - r->begin < bytes) {
			int e = make_room(r, bytes);

			if (e < 0)
				return e;
		}
		if (r->wait && !r->seekable) {
			int e = r->wait(r->user, r->fd);

			if (e < 0)
				return e;
		}
		n = read(r->fd, r->window + r->end, r->room - r->end);
		if (n < 0)
			return -errno;
		r->eof = n == 0;
		r->end += (size_t)n;
	}
	return (int64_t)(r->end - r->begin);
}

static void pass(struct sx_recording *r, size_t bytes)
{
	r->begin += bytes;
	r->state.offset += bytes;
}

static int jump(struct sx_recording *r, uint64_t offset)
{
	if (lseek(r->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	r->begin = r->end = 0;
	r->eof = false;
	r->state.offset = offset;
	return 0;
}

/* ---- records ---- */

static const struct sx_record_head *head_here(const struct sx_recording *r)
{
	return (const struct sx_record_head *)(r->window + r->begin);
}

static bool head_good(const struct sx_record_head *h)
{
	return h->magic == SX_RECORD_MAGIC &&
	       h->head_crc == sx_crc32c(0, h, offsetof(struct sx_record_head, head_crc)) &&
	       h->bytes <= CONTENT_MAX && h->plain_bytes <= CONTENT_MAX;
}

static int take_frame(struct sx_recording *r, const struct sx_record_head *h, struct sx_record *record)
{
	const void *content = h + 1;
	int e;

	if (h->encoding != SX_RECORD_PLAIN) {
		e = sx_record_decode(r->codec, h->encoding, &content, h->bytes, h->plain_bytes);
		if (e < 0)
			return e;
		r->state.compressed++;
	} else if (h->bytes != h->plain_bytes) { /* no more than bytes are in the window */
		return -EBADMSG;
	}
	return sx_frame_check(&record->frame, content, h->plain_bytes);
}

static const void *take_struct(void *to, size_t bytes, const struct sx_record_head *h)
{
	return h->bytes < bytes ? NULL : memcpy(to, h + 1, bytes);
}

/* 1: there is something to give out; 0: pass over it; negative: why it is no whole record. */
static int recording_take(struct sx_recording *r, const struct sx_record_head *h, struct sx_record *record)
{
	int e;

	*record = (struct sx_record){.kind = h->kind,
				     .offset = r->state.offset,
				     .time_ns = h->time_ns,
				     .bytes = sizeof(*h) + padded(h->bytes)};
	switch (h->kind) {
	case SX_RECORD_FRAME:
		e = take_frame(r, h, record);
		return e < 0 ? e : 1;
	case SX_RECORD_PUBLISHER:
		record->publisher = take_struct(&r->publisher, sizeof(r->publisher), h);
		r->publisher.version[sizeof(r->publisher.version) - 1] = 0;
		return record->publisher != NULL;
	case SX_RECORD_GAP:
		record->gap = take_struct(&r->gap, sizeof(r->gap), h);
		return record->gap != NULL;
	case SX_RECORD_INDEX:
		r->state.index_records++;
		return 0;
	case SX_RECORD_END:
		r->state.ended = take_struct(&r->state.end, sizeof(r->state.end), h) != NULL;
		return 0;
	default: /* of a newer minor version */
		return 0;
	}
}

/* ---- what is no record ---- */

static void damaged(struct sx_recording *r, const char *why, size_t bytes)
{
	if (!r->bad_bytes) {
		r->bad_at = r->state.offset;
		r->bad_why = why;
	}
	r->bad_bytes += bytes;
	pass(r, bytes);
}

/* What was passed over lies before a whole record: damage. */
static int tell_damage(struct sx_recording *r, struct sx_record *record)
{
	*record = (struct sx_record){
		.kind = SX_RECORD_DAMAGE, .offset = r->bad_at, .bytes = r->bad_bytes, .why = r->bad_why};
	r->state.damaged_places++;
	r->state.damaged_bytes += r->bad_bytes;
	r->bad_bytes = 0;
	return 1;
}

/* What was passed over lies at the end: the file was cut there. */
static int tell_cut(struct sx_recording *r)
{
	if (!r->bad_bytes)
		return 0;
	r->state.cut_at = r->bad_at;
	r->state.cut_bytes = r->bad_bytes;
	r->bad_bytes = 0;
	return 0;
}

/*
 * One step: 1 there is a record, which lies whole in the window; 0 passed over something; -ENODATA
 * the end. Beginning with a bad record every place is tried, so that none that is whole is lost,
 * whatever a damaged length says.
 */
static int recording_step(struct sx_recording *r, struct sx_record *record)
{
	int64_t have = need(r, sizeof(struct sx_record_head));
	size_t bytes;
	int e;

	if (have < 0)
		return (int)have;
	if (have < (int64_t)sizeof(struct sx_record_head)) {
		damaged(r, "the file ends", (size_t)have);
		return -ENODATA;
	}
	if (!head_good(head_here(r))) {
		damaged(r, "the head of a record is damaged", 8);
		return 0;
	}
	bytes = sizeof(struct sx_record_head) + padded(head_here(r)->bytes);
	have = need(r, bytes);
	if (have < 0)
		return (int)have;
	if (have < (int64_t)bytes) {
		damaged(r, "the file ends within a record", 8);
		return 0;
	}
	if (sx_crc32c(0, head_here(r) + 1, head_here(r)->bytes) != head_here(r)->content_crc) {
		damaged(r, "the content of a record is damaged", 8);
		return 0;
	}
	if (r->bad_bytes) /* first say what was before it; then here again */
		return tell_damage(r, record);
	e = recording_take(r, head_here(r), record);
	if (e == -EBADMSG || e == -EPROTONOSUPPORT)
		damaged(r,
			e == -EBADMSG ? "a frame contradicts itself" : "a frame is of another major version",
			8);
	else if (e >= 0)
		pass(r, bytes);
	return e == -EBADMSG || e == -EPROTONOSUPPORT ? 0 : e;
}

int sx_recording_next(struct sx_recording *r, struct sx_record *record)
{
	int e;

	do
		e = recording_step(r, record);
	while (e == 0);
	return e == -ENODATA ? tell_cut(r) : e;
}

/* ---- opening ---- */

static int recording_refuse(int error, const char *path, const char *what, char *why, size_t why_bytes)
{
	return sx_why(error, why, why_bytes, "%s %s", strcmp(path, "-") == 0 ? "standard input" : path, what);
}

static uint32_t header_sum(const struct sx_recording_header *h, const void *bytes)
{
	const size_t at = offsetof(struct sx_recording_header, checksum);
	uint32_t crc = sx_crc32c(0, bytes, at);

	crc = sx_crc32c(crc, "\0\0\0\0", 4);
	return sx_crc32c(crc, (const uint8_t *)bytes + at + 4, h->header_bytes - at - 4);
}

static bool header_sizes_good(const struct sx_recording_header *h)
{
	return h->header_bytes >= sizeof(*h) && h->header_bytes <= HEADER_MAX && h->header_bytes % 8 == 0 &&
	       h->endian == STIXEL_ENDIAN;
}

/*
 * The header is good, or its damage is told with the first record: the frames behind it are none the worse.
 */
static int take_header(struct sx_recording *r, const char *path, char *why, size_t why_bytes)
{
	struct sx_recording_header *h = &r->header;
	int64_t have = need(r, sizeof(*h));

	if (have >= (int64_t)sizeof(*h)) { /* no more than that: a pipe may have no frame for a while */
		memcpy(h, r->window, sizeof(*h));
		if (header_sizes_good(h))
			have = need(r, h->header_bytes);
	}
	if (have < 0)
		return sx_why((int)have, why, why_bytes, "cannot read %s: %s", path, strerror((int)-have));
	if (have == 0)
		return recording_refuse(-ENODATA, path, "is empty: not a recording", why, why_bytes);
	memcpy(h, r->window, have < (int64_t)sizeof(*h) ? (size_t)have : sizeof(*h));
	if (have < 8 || h->magic != SX_RECORDING_MAGIC)
		return recording_refuse(-EBADMSG, path, "is not a recording of stixelctl", why, why_bytes);
	if (have < (int64_t)sizeof(*h))
		return recording_refuse(-EBADMSG, path,
					"ends within the header of the recording: there is no frame in it",
					why, why_bytes);
	if (h->major != SX_RECORDING_MAJOR)
		return sx_why(-EPROTONOSUPPORT, why, why_bytes,
			      "%s is a recording of version %u.%u, this program reads version %u", path,
			      h->major, h->minor, SX_RECORDING_MAJOR);
	if (header_sizes_good(h) && (int64_t)h->header_bytes <= have &&
	    header_sum(h, r->window) == h->checksum) {
		pass(r, h->header_bytes);
	} else {
		memset(h, 0, sizeof(*h));
		damaged(r, "the header of the file is damaged", 8);
	}
	h->instance[sizeof(h->instance) - 1] = h->recorder[sizeof(h->recorder) - 1] = 0;
	return 0;
}

/* Content of a record of this kind at offset, whole; its bytes, or 0. */
static size_t read_record(const struct sx_recording *r, uint64_t offset, unsigned kind, void *content,
			  size_t room)
{
	struct sx_record_head h;

	if (pread(r->fd, &h, sizeof(h), (off_t)offset) != (ssize_t)sizeof(h) || !head_good(&h) ||
	    h.kind != kind || h.encoding != SX_RECORD_PLAIN || h.bytes > room ||
	    pread(r->fd, content, h.bytes, (off_t)(offset + sizeof(h))) != (ssize_t)h.bytes ||
	    sx_crc32c(0, content, h.bytes) != h.content_crc)
		return 0;
	return h.bytes;
}

static void look_at_end(struct sx_recording *r)
{
	const uint64_t bytes = sizeof(struct sx_record_head) + sizeof(struct sx_record_end);
	struct sx_record_end end;
	struct stat st;

	if (fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	r->seekable = true;
	r->state.total_bytes = (uint64_t)st.st_size;
	if (r->state.total_bytes >= bytes &&
	    read_record(r, r->state.total_bytes - bytes, SX_RECORD_END, &end, sizeof(end)) == sizeof(end) &&
	    end.file_bytes == r->state.total_bytes)
		r->state.end = end;
}

int sx_recording_open(struct sx_recording **ret, const char *path, char *why, size_t why_bytes)
{
	struct sx_recording *r = calloc(1, sizeof(*r));
	int e;

	if (!r || sx_record_codec_create(&r->codec) < 0) {
		free(r);
		return sx_why(-ENOMEM, why, why_bytes, "out of memory");
	}
	r->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				       : open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0) {
		e = sx_why(-errno, why, why_bytes, "cannot open %s: %s", path, strerror(errno));
		goto fail;
	}
	e = take_header(r, path, why, why_bytes);
	if (e < 0)
		goto fail;
	look_at_end(r);
	*ret = r;
	return 0;
fail:
	sx_recording_close(r);
	return e;
}

void sx_recording_close(struct sx_recording *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	sx_record_codec_destroy(r->codec);
	free(r->window);
	free(r);
}

const struct sx_recording_header *sx_recording_header(const struct sx_recording *r)
{
	return &r->header;
}

const struct sx_recording_state *sx_recording_state(const struct sx_recording *r)
{
	return &r->state;
}

void sx_recording_on_wait(struct sx_recording *r, int (*wait)(void *user, int fd), void *user)
{
	r->wait = wait;
	r->user = user;
}

/* ---- seeking ---- */

/* The index block that covers time_ns, or the first one. */
static bool find_block(const struct sx_recording *r, int64_t time_ns, struct sx_record_index *index)
{
	uint64_t at = r->state.end.index_offset;
	size_t bytes;

	while (at) {
		bytes = read_record(r, at, SX_RECORD_INDEX, index, sizeof(*index));
		if (bytes < offsetof(struct sx_record_index, entry) || !index->count ||
		    index->count > SX_INDEX_ENTRIES ||
		    bytes < offsetof(struct sx_record_index, entry) +
				    index->count * sizeof(index->entry[0]) ||
		    index->previous >= at)
			return false;
		if (index->entry[0].time_ns <= time_ns || !index->previous)
			return true;
		at = index->previous;
	}
	return false;
}

int sx_recording_seek(struct sx_recording *r, int64_t time_ns)
{
	struct sx_record_index index;
	uint64_t offset;

	if (!r->seekable || !find_block(r, time_ns, &index))
		return -ESPIPE;
	offset = index.entry[0].offset;
	for (uint64_t i = 0; i < index.count && index.entry[i].time_ns <= time_ns; i++)
		offset = index.entry[i].offset;
	if (offset % 8 || offset >= r->state.total_bytes)
		return -ESPIPE;
	r->bad_bytes = 0;
	return jump(r, offset);
}

int sx_recording_rewind(struct sx_recording *r)
{
	if (!r->seekable)
		return -ESPIPE;
	r->bad_bytes = 0;
	return jump(r, r->header.header_bytes ? r->header.header_bytes : sizeof(r->header));
}

const char *sx_recording_strerror(int error)
{
	if (error == -ENOTSUP)
		return sx_record_codec_built()
			       ? "frames are compressed in a way that this version does not know"
			       : "frames are compressed, and this program was built without zstd";
	return error == -ESPIPE ? "a pipe can only be read once" : strerror(-error);
}
