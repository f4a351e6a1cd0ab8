/*
 * Segmentation of stixel columns (dp, slanted, rdp) on many threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SEGMENT_H
#define SX_CPU_SEGMENT_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

struct sx_segmenter;
struct sx_segment_kernels;

/*
 * Creates tables, and scratch for each of `threads` workers. range: sx_disparity_range(). k: kernels of the
 * engine's set (cpu/kernel_sets.h). Returns 0, -EINVAL or -ENOMEM.
 */
int sx_segmenter_create(struct sx_segmenter **ret, const struct sx_params *p, int height, int range,
			int threads, const struct sx_segment_kernels *k);
void sx_segmenter_destroy(struct sx_segmenter *s);
/* Returns all memory that s holds, bytes. */
size_t sx_segmenter_bytes(const struct sx_segmenter *s);

/*
 * Call begin once per frame. Then call columns for [u0, u1) on any worker, for each column once. The lists
 * equal the lists of sx_dp_run(), sx_slanted_run() or sx_rdp_run(). columns: U16 Q4 of the whole image, from
 * sx_reduce(), or from sx_evidence() for slanted methods. confidence, scores: images of the same shape, or
 * NULL. Only slanted methods read them, until the last column is done.
 */
void sx_segmenter_begin(struct sx_segmenter *s, const struct sx_road *road, const struct sx_image *confidence,
			const struct sx_image *scores);
void sx_segmenter_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1, int worker,
			  struct sx_segments *out);

#endif
