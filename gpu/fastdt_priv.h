/*
 * Inside of FastDT on the device: what its kernel files hand to each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_PRIV_H
#define SX_GPU_FASTDT_PRIV_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DT_BATCH 8 /* positions; planes are padded to multiples of it */

/*
 * Planes beside the volumes, [rows][pitch], in device memory. Elements: of the variant float all are float, but keys;
 * else weights are 16 bits, least and lowest 16 bits with sign, gain 32 bits.
 */
struct sx_dt_planes {
	int width, height, rows; /* rows: height, padded */
	size_t pitch;		 /* elements */
	bool real;
	const void *table; /* weight by difference of grey levels, 256 */
	void *across;	   /* weight between x - 1 and x; 0 for x = 0 and in the padding */
	void *down;	   /* between y - 1 and y */
	void *lowest;	   /* the lowest disparity, where it is subtracted */
	void *least;	   /* U(O) */
	void *gain;	   /* G, then what V(d) - V(O) is multiplied by: R, or 65535 / G */
	uint32_t *keys;	   /* of the right map: S << 16 | d, smallest so far */
};

/* What follows from the left image alone: weights; then gain, and empty keys. cost_max: of each pixel of G. */
cudaError_t sx_dt_weights_run(const struct sx_dt_planes *p, const struct sx_image *grey, cudaStream_t stream);
cudaError_t sx_dt_gain_run(const struct sx_dt_planes *p, int cost_max, cudaStream_t stream);

/*
 * "up" and the winner. volume: U, 2 or (real) 4 bytes a cell; keep: S is left there, in the first two bytes of a
 * cell's lane (sx_dt_sum_run() reads it).
 */
cudaError_t sx_dt_winner_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s, uint8_t *volume,
			     bool keep, const struct sx_image *winner, const struct sx_image *winner_right,
			     const struct sx_image *confidence, cudaStream_t stream);
cudaError_t sx_dt_sum_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s,
			  const uint8_t *volume, const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
