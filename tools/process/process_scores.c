/*
 * stixel-process: reads class scores of one image, from NumPy's format or a map of class numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/process/process_scores.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/image/image_io.h"

#define NPY_MAGIC "\x93NUMPY"
#define NPY_HEADER_MAX 65536u
#define UNKNOWN 255

/* The file being read, with the facts that its error messages need. */
struct job {
	const char *path;
	int classes, image_width, image_height;
	struct sx_why *why;
};

__attribute__((format(printf, 2, 3))) static int scores_refuse(const struct job *j, const char *format, ...)
{
	va_list list;

	sx_why_set(j->why, "%s: ", j->path);
	va_start(list, format);
	sx_why_add_list(j->why, format, list);
	va_end(list);
	return -EBADMSG;
}

static int no_memory(const struct job *j)
{
	scores_refuse(j, "not enough memory");
	return -ENOMEM;
}

/* Computes the sizes of the scores and allocates memory. Rows have no gap. */
static int scores_take_memory(const struct job *j, struct process_scores *s, int width, int height)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	int scale = 1;

	while (scale <= SX_SCORES_SCALE_MAX && ((j->image_width + scale - 1) / scale != width ||
						(j->image_height + scale - 1) / scale != height))
		scale++;
	if (scale > SX_SCORES_SCALE_MAX)
		return scores_refuse(
			j,
			"%dx%d scores for an image of %dx%d: its size divided by 1 to %d and rounded up "
			"is expected",
			width, height, j->image_width, j->image_height, SX_SCORES_SCALE_MAX);
	s->scores = (struct sx_scores){
		.pitch = (size_t)width,
		.plane_bytes = (size_t)width * (size_t)height,
		.classes = j->classes,
		.width = width,
		.height = height,
		.scale = scale,
	};
	bytes = (size_t)j->classes * s->scores.plane_bytes;
	s->memory = aligned_alloc(page, (bytes + page - 1) / page * page);
	if (!s->memory)
		return no_memory(j);
	s->scores.data = s->memory;
	return 0;
}

/* ---- maps of class numbers ---- */

static int read_labels(const struct job *j, struct process_scores *s)
{
	struct sx_image map = {0};
	int r = sx_label_map_read(j->path, &map, j->why);

	if (r < 0)
		return r;
	r = scores_take_memory(j, s, map.width, map.height);
	if (r < 0)
		goto out;
	memset(s->memory, 0, (size_t)j->classes * s->scores.plane_bytes);
	for (int y = 0; y < map.height; y++) {
		const uint8_t *row = sx_image_row(&map, y);
		uint8_t *to = (uint8_t *)s->memory + (size_t)y * s->scores.pitch;

		for (int x = 0; x < map.width; x++) {
			if (row[x] < j->classes) {
				to[row[x] * s->scores.plane_bytes + (size_t)x] = 255;
			} else if (row[x] != UNKNOWN) {
				r = scores_refuse(
					j,
					"class %d at row %d, column %d, but semantics.classes has %d (0 to "
					"%d; 255: unknown)",
					row[x], y, x, j->classes, j->classes - 1);
				goto out;
			}
		}
	}
out:
	sx_image_finish(&map);
	return r;
}

/* ---- NumPy's format ---- */

/*
 * Returns the text after 'KEY': in a header. The header is a Python literal with keys in any order. NULL: no
 * such key.
 */
static const char *value_of(const char *header, const char *key)
{
	char quoted[32];
	const char *at;

	snprintf(quoted, sizeof(quoted), "'%s':", key);
	at = strstr(header, quoted);
	return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static int read_header(const struct job *j, FILE *f, char header[NPY_HEADER_MAX + 1])
{
	uint8_t start[12];
	uint32_t length;

	if (fread(start, 10, 1, f) != 1)
		return scores_refuse(j, "cut short");
	length = start[8] | (uint32_t)start[9] << 8;
	if (start[6] >= 2) {
		if (fread(start + 10, 2, 1, f) != 1)
			return scores_refuse(j, "cut short");
		length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
	}
	if (start[6] < 1 || start[6] > 3 || length > NPY_HEADER_MAX)
		return scores_refuse(
			j, "a NumPy file of version %u with a header of %u bytes; 1 to 3 and %u can be read",
			start[6], length, NPY_HEADER_MAX);
	if (fread(header, 1, length, f) != length)
		return scores_refuse(j, "cut short");
	header[length] = 0;
	return 0;
}

/* Reads a shape such as "(19, 94, 311)". */
static int read_shape(const struct job *j, const char *text, long shape[3])
{
	const char *at = text;
	char *end;

	for (int i = 0; i < 3; i++) {
		at += strspn(at, i ? ", " : "( ");
		shape[i] = strtol(at, &end, 10);
		if (end == at || shape[i] < 0)
			goto other;
		at = end;
	}
	at += strspn(at, ", ");
	if (*at == ')')
		return 0;
other:
	return scores_refuse(j, "shape %.*s), expected (classes, rows, columns)", (int)strcspn(text, ")\n"),
			     text);
}

static int check_npy(const struct job *j, const char *header, long shape[3])
{
	const char *descr = value_of(header, "descr"), *order = value_of(header, "fortran_order"),
		   *size = value_of(header, "shape");
	int r;

	if (!descr || !order || !size)
		return scores_refuse(j, "a NumPy file whose header cannot be read");
	if (strncmp(descr, "'|u1'", 5) != 0)
		return scores_refuse(j,
				     "scores are of type %.*s, expected uint8 ('|u1'): np.rint(255 * "
				     "p).astype(np.uint8) converts probabilities",
				     (int)strcspn(descr, ",}\n"), descr);
	if (strncmp(order, "False", 5) != 0)
		return scores_refuse(j, "is in Fortran order, expected C order: np.ascontiguousarray()");
	r = read_shape(j, size, shape);
	if (r < 0)
		return r;
	if (shape[0] != j->classes)
		return scores_refuse(j, "has %ld classes, but semantics.classes has %d", shape[0],
				     j->classes);
	if (shape[1] > SX_IMAGE_FILE_HEIGHT_MAX || shape[2] > SX_IMAGE_FILE_WIDTH_MAX)
		return scores_refuse(j, "%ldx%ld scores are too many", shape[2], shape[1]);
	return 0;
}

static int read_npy(const struct job *j, FILE *f, struct process_scores *s)
{
	char *header = malloc(NPY_HEADER_MAX + 1);
	size_t bytes;
	long shape[3];
	int r;

	if (!header)
		return no_memory(j);
	r = read_header(j, f, header);
	if (r == 0)
		r = check_npy(j, header, shape);
	free(header);
	if (r == 0)
		r = scores_take_memory(j, s, (int)shape[2], (int)shape[1]);
	if (r < 0)
		return r;
	bytes = (size_t)j->classes * s->scores.plane_bytes;
	if (fread(s->memory, 1, bytes, f) != bytes)
		return scores_refuse(j, "cut short");
	return fgetc(f) == EOF ? 0 : scores_refuse(j, "has bytes after the last score");
}

int process_scores_read(struct process_scores *ret, const char *path, int classes, int image_width,
			int image_height, struct sx_why *why)
{
	const struct job j = {path, classes, image_width, image_height, why};
	struct process_scores s = {0};
	char start[6] = "";
	FILE *f = fopen(path, "rbe");
	int r;

	if (!f) {
		r = -errno;
		return sx_why_fail(r, why, "%s: %s", path, strerror(-r));
	}
	if (fread(start, 1, sizeof(start), f) == sizeof(start) &&
	    memcmp(start, NPY_MAGIC, sizeof(start)) == 0) {
		rewind(f);
		r = read_npy(&j, f, &s);
	} else if (memcmp(start, "\x89PNG", 4) == 0) {
		r = read_labels(&j, &s);
	} else {
		r = scores_refuse(&j, "neither a NumPy file (.npy) of scores nor a PNG of class numbers");
	}
	fclose(f);
	if (r < 0) {
		process_scores_finish(&s);
		return r;
	}
	*ret = s;
	return 0;
}

void process_scores_finish(struct process_scores *s)
{
	free(s->memory);
	*s = (struct process_scores){0};
}
