/*
 * Internal header of FastDT on the device: interfaces between its kernel files.
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
/* Cells of a pixel in the plane `beside`, and the places of some of them. */
#define SX_DT_BESIDE 4
#define SX_DT_LEAST 2
#define SX_DT_WEIGHT 3

/*
 * Planes beside the volumes, [rows][pitch], in device memory. What the pass up needs of a pixel lies together
 * in four cells of `beside`.
 */
struct sx_dt_planes {
	int width, height, rows; /* height, padded */
	size_t pitch;		 /* elements */
	const uint16_t *table;	 /* 256 weights, by difference of grey levels */
	uint16_t *across;	 /* weights between x - 1 and x; 0 for x = 0 and in the padding */
	uint16_t *down;		 /* weights between y - 1 and y */
	int16_t *lowest;	 /* values of the lowest disparity, to be subtracted */
	uint32_t *gain;		 /* G */
	/* first and second cell: R, 32 bits; third: U(O); fourth: weight of the pass down */
	uint16_t *beside;
	uint32_t *keys; /* keys of the right map: S << 16 | d, smallest so far */
};

/*
 * Compute what depends on the left image alone: weights, then gain and empty keys. cost_max: the cost in each
 * pixel from which G is computed.
 */
cudaError_t sx_dt_weights_run(const struct sx_dt_planes *p, const struct sx_image *grey, cudaStream_t stream);
cudaError_t sx_dt_gain_run(const struct sx_dt_planes *p, int cost_max, cudaStream_t stream);

/*
 * Runs the pass up and finds the winner. held: V may exceed 16 bits and is clamped. volume: U, 2 bytes a
 * cell. keep: S replaces U in the volume, for sx_dt_sum_run().
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
