/*
 * FastDT: the domain transform as an aggregation of matching costs. Four recursive filters smooth each plane
 * of one disparity, one after the other. Their weights are small at edges of the left image.
 * Pham, Jeon: Domain transformation-based efficient cost aggregation for local stereo matching (the passes);
 * Chang, Zha et al.: Z2-ZNCC and FastDT (normalisation, 16 and 8 bits).
 *
 *   to the right:  A(x) = C(x) + w(x-1,x) A(x-1)      down: U(y) = B(y) + w(y-1,y) U(y-1)
 *   to the left:   B(x) = A(x) + w(x,x+1) B(x+1)      up:   V(y) = U(y) + w(y,y+1) V(y+1)
 *   w(p,q) = exp(-1 / sigma_s) exp(-|I(p) - I(q)| / sigma_r), I: left grey image
 *
 * Variants:
 *   float  C of sx_cost_row_float(), binary32, each step one fused multiply-add.
 *   int32  C of sx_cost_row(), w in 1/32768 rounded half up, each step a + ((w b + 16384) >> 15).
 *   int16  as int32, each value held to -32768..32767.
 *   int8   as int16; what "to the left" stores is coded in 8 bits (sx_fastdt_encode) and decoded for "down".
 *
 * A plane of constant cost grows 926 fold with the default sigma_s. 16 bits could not hold it. Therefore one
 * pass subtracts the plane of the lowest disparity from all planes as it reads its input: "to the left" for
 * int8, "down" for the other variants. All planes then hold values around and below 0.
 *
 * S. One more plane recovers what the subtraction removes: O, whose matching cost is 0 everywhere, goes
 * through the same arithmetic. Every step is monotone, so no V(d) is below V(O), and V(d) - V(O) is the
 * aggregated cost again. This cost is larger where weights are larger. The right map compares it between
 * pixels. Therefore it is divided by G, the aggregated value of the largest cost: a plane of sx_cost_max()
 * everywhere (float and zncc: 2), filtered as in int32 (float: as in float) with nothing subtracted.
 *   S(d) = (V(d) - V(O)) * R >> 16, held to 65535, R = floor(65535 * 65536 / G); float:
 *   (V(d) - V(O)) * (65535 / G), to nearest, ties to even, held to 0..65535.
 * R >= 65536, so S has the ranks of V.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_FASTDT_H
#define SX_STAGES_STEREO_FASTDT_H

#include <stddef.h>
#include <stdint.h>

#include "stages/stereo/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_FASTDT_WEIGHT_BITS 15

/* Weights w indexed by |I(p) - I(q)|. All engines read this table, so that no other exp() is used. */
struct sx_fastdt_weights {
	float real[256];
	uint16_t fixed[256]; /* in 1/32768, up to 32767 */
};
void sx_fastdt_weights_init(struct sx_fastdt_weights *w, const struct sx_stereo_params *p);

/*
 * Codes 16 bits in 8: 0 for v >= 0, else six bits of v below its leading ones and the position of these bits.
 * Steps are 512 from -32768 on, 32 from -2048 on, 2 from -128 on. Rounds down. Monotone.
 */
static inline uint8_t sx_fastdt_encode(int16_t v)
{
	const unsigned bits = (uint16_t)v;

	if (v >= 0)
		return 0;
	if ((bits & 0x7800) != 0x7800)
		return (uint8_t)((bits >> 9 & 63) << 2 | 1);
	if ((bits & 0x780) != 0x780)
		return (uint8_t)((bits >> 5 & 63) << 2 | 2);
	return (uint8_t)((bits >> 1 & 63) << 2 | 3);
}

static inline int16_t sx_fastdt_decode(uint8_t code)
{
	static const uint8_t shift[4] = {0, 9, 5, 1};
	const unsigned s = shift[code & 3];

	return code ? (int16_t)(-(64 << s) + ((code >> 2) << s)) : 0;
}

/*
 * Aggregates the costs of a pair. in: grey[0] is the guide; all of `in` is matched. sum: U16, width *
 * disparities wide, S[y][x][d]. scratch: sx_fastdt_scratch_bytes(), 64-byte aligned, content ignored.
 */
void sx_fastdt(const struct sx_cost_input *in, const struct sx_image *sum, const struct sx_stereo_params *p,
	       void *scratch);
size_t sx_fastdt_scratch_bytes(int width, int height, const struct sx_stereo_params *p);

#ifdef __cplusplus
}
#endif

#endif
