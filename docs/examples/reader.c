/*
 * Prints each frame's nearest obstacle, until the publisher ends.
 * cc reader.c $(pkg-config --cflags --libs stixel) -o reader && ./reader front
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stixel.h>

int main(int argc, char **argv)
{
	const struct stixel_frame *frame;
	struct stixel_reader *reader;
	uint64_t lost;
	int r = stixel_open(&reader, argc > 1 ? argv[1] : "default", 0);

	if (r < 0) {
		fprintf(stderr, "%s\n", stixel_strerror(r));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0); /* writes each line at once, also into a pipe */
	while ((r = stixel_wait(reader, 1000)) >= 0) {
		double nearest_m = HUGE_VAL; /* infinity: no obstacle */

		if (stixel_next(reader, &frame, &lost) != 1)
			continue; /* no frame for a second, or a damaged frame */
		for (uint32_t i = 0; i < frame->header->stixel_count; i++) {
			const struct stixel *s = &frame->stixels[i];
			double m = stixel_depth_m(frame->header, s);

			if (s->kind == STIXEL_OBJECT && m > 0 && m < nearest_m)
				nearest_m = m;
		}
		printf("frame %llu, %llu lost, %u stixels, ", (unsigned long long)frame->header->number,
		       (unsigned long long)lost, frame->header->stixel_count);
		if (nearest_m < HUGE_VAL)
			printf("nearest %.2f m\n", nearest_m);
		else
			puts("no obstacle");
	}
	fprintf(stderr, "%s\n", stixel_strerror(r));
	stixel_close(reader);
	return 0;
}
