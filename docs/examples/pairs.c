/*
 * Gives stixeld 20 pairs a second of a road with a box, which it draws. stixeld needs source.kind = shared.
 * cc pairs.c $(pkg-config --cflags --libs stixel) -o pairs && ./pairs front
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stixel_pairs.h>
#include <time.h>

static uint8_t texture(unsigned x, unsigned y)
{
	return (uint8_t)((x * 2654435761u ^ y * 2246822519u) * 3266489917u >> 24);
}

/* Put your camera or your simulator in the place of this function. */
static void draw(const struct stixel_pairs_images *to, unsigned n)
{
	const unsigned begin = 160 + n % 320, end = begin + 80; /* columns of the box */

	for (unsigned y = 0; y < 480; y++) {
		const unsigned road = y > 240 ? (y - 240) / 4 : 0; /* disparity of the road, px */

		for (unsigned x = 0; x < 640; x++) {
			to->left[y * to->pitch + x] = texture(x, y);
			to->right[y * to->pitch + x] = texture(x + road, y);
		}
		for (unsigned x = begin; x < end && y >= 260 && y < 400; x++)
			to->left[y * to->pitch + x] = to->right[y * to->pitch + x - 40] = texture(x - n, ~y);
	}
}

int main(int argc, char **argv)
{
	const struct stixel_pairs_format format = {.width = 640,
						   .height = 480,
						   .pixel = STIXEL_PIXEL_GREY8,
						   .flags = STIXEL_PAIRS_SIMULATED,
						   .fps = 20,
						   .fx = 400,
						   .fy = 400,
						   .cx = 319.5,
						   .cy = 239.5,
						   .baseline_m = 0.12};
	const struct timespec pause = {.tv_nsec = 50000000};
	struct stixel_pairs_images to;
	struct stixel_pairs *writer;
	struct timespec now;

	if (stixel_pairs_create(&writer, argc > 1 ? argv[1] : "default", &format, sizeof(format)) < 0)
		return 1;
	if (stixel_pairs_connect(writer, 10000) != 1) {
		fprintf(stderr, "%s\n", stixel_pairs_why(writer));
		stixel_pairs_close(writer);
		return 1;
	}
	for (unsigned n = 0;; n++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (stixel_pairs_begin(writer, &to, 1000) > 0) { /* the images in `to` are shared memory */
			const int64_t ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;

			draw(&to, n);
			stixel_pairs_commit(writer, &to, ns, ns);
		}
		nanosleep(&pause, NULL);
	}
}
