/*
 * A perception process without a network, for tests of programs that read class scores or disparity maps. It
 * writes scores or maps that a test can verify, for the images named on standard input.
 *
 *	ipc-segmenter FOLDER NAME CLASSES WIDTHxHEIGHT SCALE
 *	ipc-segmenter FOLDER NAME map WIDTHxHEIGHT CONFIDENCE	(0 or 1)
 *
 * Prints "ready" when the ring is there. Then takes lines from standard input, and answers each with "ok", or
 * an error:
 *	CAPTURE_NS BYTE		writes scores of that image, all of them BYTE, or a map of BYTE px and
 *				confidence
 *	begin BYTE		fills half of the next scores or map, and leaves them unfinished
 * Ends at the end of its input. If it is killed, it leaves the same as any killed writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/stixel.h"
#include "include/stixel_disparity.h"

/* The process writes either scores or maps. */
static struct stixel_scores *scores;
static struct stixel_disparity *maps;

static int create(char **argv)
{
	struct stixel_scores_format s = {.folder = argv[1]};
	struct stixel_disparity_format m = {.folder = argv[1]};
	uint32_t width, height, last = (uint32_t)strtoul(argv[5], NULL, 10);

	if (sscanf(argv[4], "%ux%u", &width, &height) != 2)
		exit(64);
	s.image_width = m.width = width;
	s.image_height = m.height = height;
	s.classes = (uint32_t)strtoul(argv[3], NULL, 10);
	s.scale = m.confidence = last;
	return strcmp(argv[3], "map") == 0 ? stixel_disparity_create(&maps, argv[2], &m, sizeof(m))
					   : stixel_scores_create(&scores, argv[2], &s, sizeof(s));
}

static int fill_map(unsigned byte, int parts)
{
	struct stixel_disparity_map m;
	int r = stixel_disparity_begin(maps, &m);

	for (uint32_t y = 0; r == 0 && y < m.height / (parts ? 2 : 1); y++) {
		for (uint32_t x = 0; x < m.width; x++)
			m.data[y * m.pitch / 2 + x] = (uint16_t)(256 * byte);
		if (m.confidence)
			memset(m.confidence + y * m.confidence_pitch, (int)byte, m.width);
	}
	return r;
}

static int fill(unsigned byte, int parts)
{
	struct stixel_scores_planes p;
	int r;

	if (maps)
		return fill_map(byte, parts);
	r = stixel_scores_begin(scores, &p);
	if (r == 0)
		memset(p.data, (int)byte, p.classes * p.plane_bytes / (parts ? 2 : 1));
	return r;
}

int main(int argc, char **argv)
{
	int64_t capture_ns;
	char line[128];
	unsigned byte;
	int r;

	if (argc != 6)
		return 64;
	r = create(argv);
	if (r < 0) {
		fprintf(stderr, "ipc-segmenter: %s\n", stixel_strerror(r));
		return 73;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "begin %u", &byte) == 1) {
			r = fill(byte, 1);
		} else if (sscanf(line, "%" SCNd64 " %u", &capture_ns, &byte) == 2) {
			r = fill(byte, 0);
			if (r == 0)
				r = maps ? stixel_disparity_commit(maps, capture_ns, 0, 0)
					 : stixel_scores_commit(scores, capture_ns, 0, 0);
		} else {
			return 65;
		}
		puts(r < 0 ? stixel_strerror(r) : "ok");
	}
	stixel_scores_close(scores);
	stixel_disparity_close(maps);
	return 0;
}
