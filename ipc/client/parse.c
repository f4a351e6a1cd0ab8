/*
 * Checks frames in memory, and recomputes their checksums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "include/stixel.h"
#include "ipc/check.h"

int stixel_parse(struct stixel_frame *frame, const void *data, size_t bytes)
{
	return frame ? sx_frame_check(frame, data, bytes) : -EINVAL;
}

int stixel_seal(void *frame, size_t bytes)
{
	struct stixel_frame_header *h = frame;
	size_t end;

	if (!frame || (uintptr_t)frame % 8 != 0)
		return -EINVAL;
	if (bytes < STIXEL_HEADER_BYTES_LEAST)
		return -EBADMSG;
	end = h->plane_kind ? h->plane_offset : h->frame_bytes;
	if (end < STIXEL_HEADER_BYTES_LEAST || end > bytes)
		return -EBADMSG;
	h->checksum = sx_frame_checksum(frame, h);
	return 0;
}
