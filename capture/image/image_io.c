/*
 * Image files: loads a file, detects its format, decodes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/image_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "capture/image/image_io_priv.h"

static int read_all(int fd, uint8_t *data, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = read(fd, data + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG; /* the file became shorter while it was read */
		done += (size_t)n;
	}
	return 0;
}

void sx_file_bytes_finish(struct sx_file_bytes *b)
{
	free(b->data);
	*b = (struct sx_file_bytes){0};
}

/* Makes room for a file. The old content is lost. */
static int make_room(struct sx_file_bytes *b, size_t bytes)
{
	if (bytes <= b->room)
		return 0;
	sx_file_bytes_finish(b);
	b->data = malloc(bytes);
	if (!b->data)
		return -ENOMEM;
	b->room = bytes;
	return 0;
}

/*
 * Loads a whole file into memory, which the caller frees. O_NONBLOCK: a pipe with an image's name must not
 * block the capture thread.
 */
static int image_load(const char *path, struct sx_file_bytes *ret, size_t *bytes, struct sx_why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		sx_why_set(why, "%s: %s", path, strerror(-r));
		goto out;
	}
	r = -EBADMSG;
	if (!S_ISREG(st.st_mode)) {
		sx_why_set(why, "%s: not a file", path);
		goto out;
	}
	if (st.st_size < 1 || st.st_size > (off_t)SX_IMAGE_FILE_BYTES_MAX) {
		sx_why_set(why, "%s: %lld bytes; 1 to %u can be read", path, (long long)st.st_size,
			   SX_IMAGE_FILE_BYTES_MAX);
		goto out;
	}
	r = make_room(ret, (size_t)st.st_size);
	if (r == 0)
		r = read_all(fd, ret->data, (size_t)st.st_size);
	if (r < 0)
		sx_why_set(why, "%s: %s", path, r == -EBADMSG ? "cut short" : strerror(-r));
out:
	if (fd >= 0)
		close(fd);
	if (r == 0)
		*bytes = (size_t)st.st_size;
	return r;
}

/* Names a common format that is not read, from the first bytes of the file; NULL: unknown. */
static const char *other_format(const uint8_t *data, size_t bytes)
{
	static const struct {
		const char *name;
		size_t at, length;
		const char *begin;
	} formats[] = {
		{"a BMP file", 0, 2, "BM"},
		{"a GIF file", 0, 4, "GIF8"},
		{"a TIFF file", 0, 4, "II*\0"},
		{"a TIFF file", 0, 4, "MM\0*"},
		{"a WebP file", 8, 4, "WEBP"},
		{"an AVIF or HEIC file", 4, 4, "ftyp"},
		{"a JPEG 2000 file", 4, 4, "jP  "},
		{"a PBM file (P1, 1 bit a pixel)", 0, 2, "P1"},
		{"a PBM file (P4, 1 bit a pixel)", 0, 2, "P4"},
		{"a PAM file (P7)", 0, 2, "P7"},
		{"a PFM file (floating point)", 0, 2, "Pf"},
		{"a PFM file (floating point)", 0, 2, "PF"},
		{"a NumPy file", 1, 5, "NUMPY"},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (bytes >= formats[i].at + formats[i].length &&
		    memcmp(data + formats[i].at, formats[i].begin, formats[i].length) == 0)
			return formats[i].name;
	return NULL;
}

const char *sx_image_other_format(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t begin[16];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, begin, sizeof(begin));
	close(fd);
	return n > 0 ? other_format(begin, (size_t)n) : NULL;
}

static int image_decode(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	static const uint8_t png[4] = {0x89, 'P', 'N', 'G'}, jpeg[2] = {0xff, 0xd8};
	const char *other;

	sx_must(bytes, >, 0);
	if (bytes >= 4 && !memcmp(data, png, 4))
		return sx_decode_png(sink, data, bytes);
	if (sink->labels)
		return sx_sink_refuse(sink, "no PNG");
	if (bytes >= 2 && data[0] == 'P' && data[1] && strchr("2356", data[1]))
		return sx_decode_pnm(sink, data, bytes);
	if (bytes >= 2 && !memcmp(data, jpeg, 2))
		return sx_decode_jpeg(sink, data, bytes);
	other = other_format(data, bytes);
	if (other)
		return sx_sink_refuse(sink, "%s cannot be read: convert it to PNG, or to PGM", other);
	return sx_sink_refuse(sink, "neither PNG nor PGM, PPM or JPEG");
}

/* kept: NULL, or memory for the file. */
static int read_image(const char *path, struct sx_image_sink *sink, struct sx_file_bytes *kept,
		      struct sx_why *why)
{
	struct sx_file_bytes own = {0}, *file = kept ? kept : &own;
	size_t bytes = 0;
	int r = image_load(path, file, &bytes, why);

	sx_must_be(!sink->allocated);
	if (r == 0) {
		r = image_decode(sink, file->data, bytes);
		if (r < 0 && sink->allocated)
			sx_image_finish(&sink->image);
		if (r == -ENOMEM)
			sx_sink_refuse(sink, "no memory");
		if (r < 0)
			sx_why_set(why, "%s: %s", path, sink->why.text);
	}
	if (!kept || file->room > SX_FILE_BYTES_KEPT)
		sx_file_bytes_finish(file);
	return r;
}

int sx_image_read_noted(const char *path, struct sx_image *ret, struct sx_image_notes *notes,
			struct sx_why *why)
{
	struct sx_image_sink sink = {0};
	int r = read_image(path, &sink, NULL, why);

	if (r == 0)
		*ret = sink.image;
	if (r == 0 && notes)
		*notes = sink.notes;
	return r;
}

int sx_image_read(const char *path, struct sx_image *ret, struct sx_why *why)
{
	return sx_image_read_noted(path, ret, NULL, why);
}

int sx_label_map_read(const char *path, struct sx_image *ret, struct sx_why *why)
{
	struct sx_image_sink sink = {.labels = true};
	int r = read_image(path, &sink, NULL, why);

	if (r == 0)
		*ret = sink.image;
	return r;
}

int sx_image_read_into(const char *path, const struct sx_image *dst, struct sx_file_bytes *bytes,
		       struct sx_image_notes *notes, struct sx_why *why)
{
	struct sx_image_sink sink = {.wanted = dst};
	int r = read_image(path, &sink, bytes, why);

	if (r == 0 && notes)
		*notes = sink.notes;
	return r;
}
