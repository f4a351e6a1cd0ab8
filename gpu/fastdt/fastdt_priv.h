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
#include "stages/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DT_BATCH 8 /* positions; planes are padded to multiples of it */
/* Cells of a pixel in the plane beside, and places of some. */
#define SX_DT_BESIDE 4
#define SX_DT_LEAST 2
#define SX_DT_WEIGHT 3

/*
 * Planes beside the volumes, [rows][pitch], in device memory. A cell and a weight are 16 bits, of the variant float
 * they are float. What "up" wants of a pixel lies together, in the room of four cells.
 */
struct sx_dt_planes {
	int width, height, rows; /* rows: height, padded */
	size_t pitch;		 /* elements */
	bool real;
	const void *table; /* weight by difference of grey levels, 256 */
	void *across;	   /* weight between x - 1 and x; 0 for x = 0 and in the padding */
	void *down;	   /* between y - 1 and y */
	void *lowest;	   /* the lowest disparity, where it is subtracted */
	void *gain;	   /* G, 32 bits */
	void *beside;	   /* 32 bits: R, or 65535 / G; third cell: U(O); fourth: the weight of down */
	uint32_t *keys;	   /* of the right map: S << 16 | d, smallest so far */
};

/* What follows from the left image alone: weights; then gain, and empty keys. cost_max: of each pixel of G. */
cudaError_t sx_dt_weights_run(const struct sx_dt_planes *p, const struct sx_image *grey, cudaStream_t stream);
cudaError_t sx_dt_gain_run(const struct sx_dt_planes *p, int cost_max, cudaStream_t stream);

/*
 * ZNCC's costs and the pass to the right at once. out: A, a byte a cell, none of which is more than 255; real: 4 bytes.
 * lowest: and that of the lowest disparity to its plane; not real. Worth it: where multiprocessors, sms of them, have rows enough.
 */
bool sx_dt_zncc_is_worth_it(const struct sx_dt_planes *planes, const struct sx_stereo_params *p, int sms);
cudaError_t sx_dt_zncc_run(const struct sx_dt_planes *planes, const struct sx_stereo_params *p,
			   const struct sx_image grey[2], const struct sx_image words[2], uint8_t *out,
			   bool lowest, cudaStream_t stream);

/*
 * "up" and the winner. held: V may leave 16 bits, and is held there. volume: U, 2 or (real) 4 bytes a cell; keep: S is left there, in the first two bytes of a
 * cell's lane (sx_dt_sum_run() reads it).
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
