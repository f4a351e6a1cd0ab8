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
 * Tables, and scratch for each of threads workers. range: sx_disparity_range(). k: of the engine's set
 * (cpu/kernel_sets.h). -EINVAL, -ENOMEM.
 */
int sx_segmenter_create(struct sx_segmenter **ret, const struct sx_params *p, int height, int range,
			int threads, const struct sx_segment_kernels *k);
void sx_segmenter_destroy(struct sx_segmenter *s);
/* All memory that it holds. */
size_t sx_segmenter_bytes(const struct sx_segmenter *s);

/*
 * Once per frame, then columns [u0, u1) on any worker, each column once. Same lists as sx_dp_run(),
 * sx_slanted_run() or sx_rdp_run(). columns: U16 Q4 as sx_reduce() leaves them, or sx_evidence() for slanted,
 * of the whole image. confidence, scores: their shape, or NULL; for slanted alone, and until the last column.
 */
void sx_segmenter_begin(struct sx_segmenter *s, const struct sx_road *road, const struct sx_image *confidence,
			const struct sx_image *scores);
void sx_segmenter_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1, int worker,
			  struct sx_segments *out);

#endif
