/*
 * The free space of each column of a frame, as C has it: python-free reads the frame's bytes from standard
 * input and prints for each column what ends it, and metres.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include <stixel.h>

int main(void)
{
	static const char *const words[] = {"unseen", "ground", "object"};
	const size_t room = (size_t)1 << 20;
	char *bytes = malloc(room);
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)bytes;
	struct stixel_frame f = {.header = h};

	if (!bytes || fread(bytes, 1, room, stdin) < STIXEL_HEADER_BYTES_LEAST) {
		free(bytes);
		return 1;
	}
	f.offsets = (const uint32_t *)(bytes + h->header_bytes);
	f.stixels = (const struct stixel *)(bytes + h->stixels_offset);
	for (uint32_t u = 0; u < h->columns; u++) {
		int end;
		double metres = stixel_free_space_m(&f, u, &end);

		printf("%s %.17g\n", words[end], metres);
	}
	free(bytes);
	return 0;
}
