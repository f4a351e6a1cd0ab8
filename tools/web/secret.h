/*
 * Reads files with secrets. A file that other users may read is refused, and its content is wiped when it is
 * freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_SECRET_H
#define SX_TOOLS_WEB_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"

struct web_secret {
	char *text; /* ends with a 0, which bytes does not count */
	size_t bytes;
};

/*
 * Reads a file of at most 256 kB, for web_secret_finish(). closed: refuse a file that users other than its
 * owner and its group can read. Returns 0, or a negative errno with a sentence in why; -EPERM: other users
 * can read it; -EBADMSG: the content is wrong (too long, or a byte 0); other errors: the file cannot be read.
 */
int web_secret_read(struct web_secret *ret, const char *path, bool closed, struct sx_why *why);
/* Wipes and frees the text. Accepts a zeroed struct. */
void web_secret_finish(struct web_secret *s);

#endif
