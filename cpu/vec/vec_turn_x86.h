/*
 * Transposition for the x86 vectors, whose intrinsics differ in their prefix alone: VEC_X86(op).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_TURN_X86_H
#define SX_CPU_VEC_VEC_TURN_X86_H

/* Transposes the 8 by 8 words of each 16 bytes of eight vectors. */
static inline void vw_turn8(vw v[8])
{
	vw a[8], b[8];

	for (int i = 0; i < 4; i++) {
		a[2 * i] = VEC_X86(unpacklo_epi16)(v[2 * i], v[2 * i + 1]);
		a[2 * i + 1] = VEC_X86(unpackhi_epi16)(v[2 * i], v[2 * i + 1]);
	}
	for (int i = 0; i < 8; i += 4)
		for (int k = 0; k < 2; k++) {
			b[i + 2 * k] = VEC_X86(unpacklo_epi32)(a[i + k], a[i + k + 2]);
			b[i + 2 * k + 1] = VEC_X86(unpackhi_epi32)(a[i + k], a[i + k + 2]);
		}
	for (int i = 0; i < 4; i++) {
		v[2 * i] = VEC_X86(unpacklo_epi64)(b[i], b[i + 4]);
		v[2 * i + 1] = VEC_X86(unpackhi_epi64)(b[i], b[i + 4]);
	}
}

#endif
