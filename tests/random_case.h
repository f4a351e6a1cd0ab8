/*
 * Random settings for comparisons of engines: any value of any key that an engine reads, by the ranges of the
 * option table, over real, drawn and artificial images of any format and size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_RANDOM_CASE_H
#define SX_TESTS_RANDOM_CASE_H

#include "tests/engine_case.h"

/* Images of which cases show parts, U8, left and right in turn; count: of the images. */
struct random_images {
	const struct sx_image *image;
	int count;
};

/* The case that belongs to a seed. cells_max: about what the reference may compute, cells of the volume. */
struct engine_case random_case(uint64_t seed, const struct random_images *images, size_t cells_max);
/*
 * engine_frame_init(), with the images of the case: a part of a real pair, a pair of the synthetic street, or
 * what the case's fill says. Aborts without memory.
 */
void random_case_frame(struct engine_frame *f, const struct engine_case *t,
		       const struct random_images *images);

#endif
