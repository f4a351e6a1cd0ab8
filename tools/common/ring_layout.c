/*
 * Detects rings of daemons whose layout this program cannot read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/ring_layout.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/read_at.h"
#include "stixel.h"
#include "tools/common/instances.h"

bool sx_ring_other_layout(const char *instance, const char *program, char text[SX_RING_LAYOUT_BYTES])
{
	struct stixel_ring_header h;
	char path[128];
	bool other;
	int fd;

	*text = 0;
	snprintf(path, sizeof(path), SX_SHM_DIR "/" SX_RING_PREFIX "%.90s", instance);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	other = sx_read_whole_at(fd, &h, sizeof(h), 0) && h.magic == STIXEL_RING_MAGIC &&
		h.abi_major != STIXEL_ABI_MAJOR;
	close(fd);
	if (other && h.abi_major > STIXEL_ABI_MAJOR)
		snprintf(text, SX_RING_LAYOUT_BYTES,
			 "its ring has layout %u.%u, this program reads %d.x: update %s and libstixel",
			 h.abi_major, h.abi_minor, STIXEL_ABI_MAJOR, program);
	else if (other)
		snprintf(text, SX_RING_LAYOUT_BYTES,
			 "its ring has layout %u.%u, this program reads %d.x: update the daemon", h.abi_major,
			 h.abi_minor, STIXEL_ABI_MAJOR);
	return other;
}
