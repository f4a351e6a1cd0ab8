/*
 * Inside of FastDT on the device: what its kernel files hand to each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_FASTDT_PRIV_H
#define SX_GPU_FASTDT_FASTDT_PRIV_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DT_BATCH 8 /* positions; planes are padded to multiples of it */
/* Cells of a pixel in the plane beside, and places of some. */
#define SX_DT_BESIDE 4
#define SX_DT_LEAST 2
#define SX_DT_WEIGHT 3

/*
 * Planes beside the volumes, [rows][pitch], in device memory. What "up" wants of a pixel lies together, in
 * four cells.
 */
struct sx_dt_planes {
	int width, height, rows; /* rows: height, padded */
	size_t pitch;		 /* elements */
	const uint16_t *table;	 /* weight by difference of grey levels, 256 */
	uint16_t *across;	 /* weight between x - 1 and x; 0 for x = 0 and in the padding */
	uint16_t *down;		 /* between y - 1 and y */
	int16_t *lowest;	 /* the lowest disparity, where it is subtracted */
	uint32_t *gain;		 /* G */
	uint16_t *beside; /* first and second cell: R, 32 bits; third: U(O); fourth: the weight of down */
	uint32_t *keys;	  /* of the right map: S << 16 | d, smallest so far */
};

/*
 * What follows from the left image alone: weights; then gain, and empty keys. cost_max: of each pixel of G.
 */
cudaError_t sx_dt_weights_run(const struct sx_dt_planes *p, const struct sx_image *grey, cudaStream_t stream);
cudaError_t sx_dt_gain_run(const struct sx_dt_planes *p, int cost_max, cudaStream_t stream);

/*
 * "up" and the winner. held: V may leave 16 bits, and is held there. volume: U, 2 bytes a cell; keep: S is
 * left there in its place (sx_dt_sum_run() reads it).
 */
cudaError_t sx_dt_winner_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s, uint8_t *volume,
			     bool keep, bool held, const struct sx_image *winner,
			     const struct sx_image *winner_right, const struct sx_image *confidence,
			     cudaStream_t stream);
cudaError_t sx_dt_sum_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s,
			  const uint8_t *volume, const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
