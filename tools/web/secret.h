/*
 * Files with secrets: read whole, refused where others may read them, wiped when they are given back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_SECRET_H
#define SX_TOOLS_WEB_SECRET_H

#include <stdbool.h>
#include <stddef.h>

struct web_secret {
	char *text; /* ends with a 0 that bytes does not count */
	size_t bytes;
};

/*
 * Reads a file of at most 256 kB, for web_secret_finish(). closed: others than its owner and its group must
 * not be able to read it. Negative errno and a sentence: -EPERM: they are; -EBADMSG: what it is made of is
 * wrong (too long, a byte 0); others: it cannot be read.
 */
int web_secret_read(struct web_secret *ret, const char *path, bool closed, char *why, size_t why_bytes);
/* Accepts a zeroed one. */
void web_secret_finish(struct web_secret *s);

#endif
