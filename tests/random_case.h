/*
 * Random settings for comparisons of engines: any value of any key that an engine reads, within the ranges of
 * the option table, over real, drawn and artificial images of any format and size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_RANDOM_CASE_H
#define SX_TESTS_RANDOM_CASE_H

#include "tests/engine_case.h"

/* Source images, U8, left and right in turn. Cases show parts of them. `count`: number of images. */
struct random_images {
	const struct sx_image *image;
	int count;
};

/*
 * Returns the case that belongs to a seed. `cells_max`: approximate limit of the work of the reference, in
 * cells of the volume.
 */
struct engine_case random_case(uint64_t seed, const struct random_images *images, size_t cells_max);
/*
 * Calls engine_frame_init() and fills the images of the case: a part of a real pair, a pair of the synthetic
 * street, or the case's fill. Aborts without memory.
 */
void random_case_frame(struct engine_frame *f, const struct engine_case *t,
		       const struct random_images *images);

#endif
