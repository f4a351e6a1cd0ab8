/*
 * Gives stixeld scores from standard input: for each picture its capture time (int64_t, CLOCK_MONOTONIC, ns),
 * then the planes of its classes, a byte a score, without gaps.
 * cc scores.c $(pkg-config --cflags --libs stixel) -o scores && network | ./scores front 19 1280 720 4
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <stixel.h>

static int read_planes(const struct stixel_scores_planes *p)
{
	for (uint32_t c = 0; c < p->classes; c++)
		for (uint32_t y = 0; y < p->height; y++)
			if (fread(p->data + c * p->plane_bytes + y * p->pitch, p->width, 1, stdin) != 1)
				return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct stixel_scores_format format = {0};
	struct stixel_scores_planes planes;
	struct stixel_scores *scores;
	uint32_t n[4] = {0};
	int64_t capture_ns;
	int r;

	for (int i = 0; i < 4 && i + 2 < argc; i++)
		n[i] = (uint32_t)strtoul(argv[i + 2], NULL, 10);
	format.classes = n[0];
	format.image_width = n[1];
	format.image_height = n[2];
	format.scale = n[3];
	r = stixel_scores_create(&scores, argc > 1 ? argv[1] : "default", &format, sizeof(format));
	while (r == 0 && fread(&capture_ns, sizeof(capture_ns), 1, stdin) == 1) {
		r = stixel_scores_begin(scores, &planes); /* the planes lie in shared memory */
		if (r < 0 || read_planes(&planes) < 0)
			break;
		r = stixel_scores_commit(scores, capture_ns, 0, 0);
	}
	if (r < 0) {
		fprintf(stderr, "%s\n", stixel_strerror(r));
		return 1;
	}
	stixel_scores_close(scores);
	return 0;
}
