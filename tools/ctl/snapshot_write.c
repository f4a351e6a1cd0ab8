/*
 * Writes the picture of stixelctl snapshot to a file or a pipe, in the format that the file name says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <unistd.h>

#include "tools/common/outfile.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/snapshot.h"
#include "tools/draw/jpeg.h"
#include "tools/draw/picture.h"

/* Returns the text after the last dot of the file name, "" without a dot. */
static const char *suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	return dot ? dot + 1 : "";
}

static bool is_jpeg(const char *path)
{
	const char *suffix = suffix_of(path);

	return strcasecmp(suffix, "jpg") == 0 || strcasecmp(suffix, "jpeg") == 0;
}

bool snapshot_to_stdout(const struct ctl *c)
{
	return strcmp(c->operands[0], "-") == 0;
}

int ctl_snapshot_words(const struct ctl *c)
{
	const char *path = c->operands[0];

	if (snapshot_to_stdout(c))
		return isatty(STDOUT_FILENO)
			       ? ctl_fail(EX_USAGE, "a picture is not for a terminal: give a file, or a pipe")
			       : 0;
	if (!is_jpeg(path) && strcasecmp(suffix_of(path), "png") != 0)
		return ctl_fail(EX_USAGE,
				"%s: the file name must end in .png, .jpg or .jpeg; - writes PNG to a pipe",
				path);
	if (is_jpeg(path) && !sx_jpeg_has())
		return ctl_fail(EX_USAGE, "%s: this stixelctl was built without libjpeg: take .png", path);
	return ctl_check_new(c, path);
}

static int snapshot_cannot_write(const struct ctl *c, int error)
{
	if (error == -EEXIST)
		return ctl_exists(c->operands[0]);
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s",
			snapshot_to_stdout(c) ? "standard output" : c->operands[0], strerror(-error));
}

int snapshot_write(const struct ctl *c, const struct sx_image *rgb)
{
	static struct sx_outfile file;
	int r;

	if (snapshot_to_stdout(c)) {
		r = sx_picture_write(stdout, rgb);
		return r < 0 ? snapshot_cannot_write(c, r) : 0;
	}
	r = c->force ? sx_outfile_open(&file, c->operands[0]) : sx_outfile_open_new(&file, c->operands[0]);
	if (r == 0)
		r = is_jpeg(c->operands[0]) ? sx_picture_write_jpeg(file.f, rgb)
					    : sx_picture_write(file.f, rgb);
	if (r == 0)
		r = sx_outfile_commit(&file);
	if (r == 0)
		return 0;
	sx_outfile_abort(&file);
	return snapshot_cannot_write(c, r);
}
