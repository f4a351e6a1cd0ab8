/*
 * Reads a part of a file or of a shared object. A read may be interrupted by a signal, or give less than was asked;
 * neither is the end of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_READ_AT_H
#define SX_BASE_READ_AT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads bytes at offset at. Returns how many: fewer only if the file ends before; -errno. Thread: any. */
static inline ssize_t sx_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	size_t done = 0;

	while (done < bytes) {
		const ssize_t n = pread(fd, (char *)to + done, bytes - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Reads all bytes at offset at. False: the file ends before, or cannot be read. Thread: any. */
static inline bool sx_read_whole_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return sx_read_at(fd, to, bytes, at) == (ssize_t)bytes;
}

#endif
