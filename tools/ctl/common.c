/*
 * Helpers of stixelctl: printing an error, stopping by a signal, checking for existing files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "tools/ctl/ctl.h"

volatile sig_atomic_t ctl_stopped;

int ctl_unless_stopped(void *user, int fd)
{
	return ctl_stopped ? -EINTR : 0;
}

int ctl_fail(int code, const char *format, ...)
{
	va_list args;

	fputs(SX_PROGRAM ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

int ctl_reading_code(int error)
{
	if (error == -EINTR)
		return CTL_NOTHING; /* a signal stopped the command */
	/* a failing disk or a lack of memory does not mean that the recording is damaged */
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EIO ? EX_SOFTWARE
											 : EX_DATAERR;
}

int ctl_exists(const char *path)
{
	return ctl_fail(EX_CANTCREAT, "%s already exists: choose another name, or --force to overwrite it",
			path);
}

int ctl_check_new(const struct ctl *c, const char *path)
{
	struct stat st;

	return !c->force && lstat(path, &st) == 0 ? ctl_exists(path) : 0;
}
