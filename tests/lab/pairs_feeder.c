/*
 * Gives pairs of image files to a daemon, for bench_sources.py. The images are copied into shared memory, as a
 * camera would write them:
 *
 *	pairs_feeder FOLDER WIDTH HEIGHT RATE
 *
 * FOLDER/grey has the pairs left/00.grey, right/00.grey to 07.grey: rows of WIDTH bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <stixel_pairs.h>
#include <string.h>
#include <time.h>

#define PAIRS 8

static uint8_t *images[PAIRS][2];

static int load(const char *folder, size_t bytes)
{
	static const char *const sides[] = {"left", "right"};

	for (int n = 0; n < PAIRS; n++)
		for (int side = 0; side < 2; side++) {
			char path[4096];
			FILE *f;

			snprintf(path, sizeof(path), "%s/grey/%s/%02d.grey", folder, sides[side], n);
			f = fopen(path, "rb");
			images[n][side] = malloc(bytes);
			if (!f || !images[n][side] || fread(images[n][side], 1, bytes, f) != bytes)
				return -1;
			fclose(f);
		}
	return 0;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Sleeps until the next multiple of the period. Returns its number. */
static int64_t next_tick(int64_t period_ns)
{
	const int64_t number = now_ns() / period_ns + 1, at = number * period_ns;
	const struct timespec until = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return number;
}

int main(int argc, char **argv)
{
	struct stixel_pairs_format format = {.pixel = STIXEL_PIXEL_GREY8,
					     .flags = STIXEL_PAIRS_SIMULATED,
					     .fx = 700,
					     .fy = 700,
					     .baseline_m = 0.12};
	struct stixel_pairs_images to;
	struct stixel_pairs *writer;

	if (argc != 5)
		return 64;
	format.width = (uint32_t)strtoul(argv[2], NULL, 10);
	format.height = (uint32_t)strtoul(argv[3], NULL, 10);
	format.fps = strtod(argv[4], NULL);
	format.cx = format.width / 2.0;
	format.cy = format.height / 2.0;
	if (format.fps <= 0 || load(argv[1], (size_t)format.width * format.height) < 0 ||
	    stixel_pairs_create(&writer, "front", &format, sizeof(format)) < 0)
		return 1;
	for (;;) {
		const int64_t n = next_tick((int64_t)(1e9 / format.fps)), ns = now_ns();

		if (stixel_pairs_begin(writer, &to, 100) <= 0)
			continue;
		for (uint32_t y = 0; y < format.height; y++) {
			memcpy(to.left + y * to.pitch, images[n % PAIRS][0] + y * format.width, format.width);
			memcpy(to.right + y * to.pitch, images[n % PAIRS][1] + y * format.width,
			       format.width);
		}
		stixel_pairs_commit(writer, &to, ns, ns);
	}
}
