/*
 * FastDT: the domain transform as an aggregation of matching costs. Each plane of one disparity is smoothed
 * by four recursive filters, one after the other, whose weights end at edges of the left image.
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
 * A plane of constant cost grows 926 fold with the default sigma_s, so that 16 bits would not do. Therefore
 * the plane of the lowest disparity is subtracted from all where a pass reads its input: in "to the left" for
 * int8, in "down" for the others. All planes then hold values around and below 0.
 *
 * S. What is lost with the subtraction is regained by one more plane: O, whose matching cost is 0 everywhere,
 * goes through the same arithmetic. Every step is monotone, so no V(d) is below V(O), and V(d) - V(O) is the
 * aggregated cost again. It is larger where weights are larger; the right map compares it between pixels, so
 * it is divided by what the largest cost would have come to: G, a plane of sx_cost_max() everywhere (float
 * and zncc: 2), filtered as in int32 (float: as in float) with nothing subtracted.
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

/* w by |I(p) - I(q)|: what all engines read, so that no other exp() is asked. */
struct sx_fastdt_weights {
	float real[256];
	uint16_t fixed[256]; /* in 1/32768, up to 32767 */
};
void sx_fastdt_weights_init(struct sx_fastdt_weights *w, const struct sx_stereo_params *p);

/*
 * 16 bits in 8: 0 for v >= 0; else six bits of v below its leading ones and where they were: steps of 512
 * from -32768 on, of 32 from -2048 on, of 2 from -128 on, rounded down. Monotone.
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
 * in: grey[0] guides, all of it is matched. sum: U16, width * disparities wide, S[y][x][d].
 * scratch: sx_fastdt_scratch_bytes(), 64-byte aligned, content ignored.
 */
void sx_fastdt(const struct sx_cost_input *in, const struct sx_image *sum, const struct sx_stereo_params *p,
	       void *scratch);
size_t sx_fastdt_scratch_bytes(int width, int height, const struct sx_stereo_params *p);

#ifdef __cplusplus
}
#endif

#endif
