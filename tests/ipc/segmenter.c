/*
 * A perception process without a network, for tests of who reads class scores: scores that prove themselves,
 * for the pictures that it is told of.
 *
 *	ipc-segmenter FOLDER NAME CLASSES WIDTHxHEIGHT SCALE
 *
 * Says "ready" when the ring is there. Then takes lines from standard input, and answers
 * each with "ok", or an error:
 *	CAPTURE_NS BYTE		gives scores of that picture, all of them BYTE
 *	begin BYTE		fills the next ones halfway, and leaves them so
 * Ends with its input; killed, it leaves what a killed writer leaves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/stixel.h"

static int fill(struct stixel_scores *scores, unsigned byte, int parts)
{
	struct stixel_scores_planes p;
	int r = stixel_scores_begin(scores, &p);

	if (r == 0)
		memset(p.data, (int)byte, p.classes * p.plane_bytes / (parts ? 2 : 1));
	return r;
}

int main(int argc, char **argv)
{
	struct stixel_scores_format format = {0};
	struct stixel_scores *scores;
	int64_t capture_ns;
	char line[128];
	unsigned byte;
	int r;

	if (argc != 6 || sscanf(argv[4], "%ux%u", &format.image_width, &format.image_height) != 2)
		return 64;
	format.folder = argv[1];
	format.classes = (uint32_t)strtoul(argv[3], NULL, 10);
	format.scale = (uint32_t)strtoul(argv[5], NULL, 10);
	r = stixel_scores_create(&scores, argv[2], &format, sizeof(format));
	if (r < 0) {
		fprintf(stderr, "ipc-segmenter: %s\n", stixel_strerror(r));
		return 73;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "begin %u", &byte) == 1) {
			r = fill(scores, byte, 1);
		} else if (sscanf(line, "%" SCNd64 " %u", &capture_ns, &byte) == 2) {
			r = fill(scores, byte, 0);
			if (r == 0)
				r = stixel_scores_commit(scores, capture_ns, 0, 0);
		} else {
			return 65;
		}
		puts(r < 0 ? stixel_strerror(r) : "ok");
	}
	stixel_scores_close(scores);
	return 0;
}
