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

/* Transposes 8 by 8 words. Rows of `to` lie `pitch` words apart. */
static inline void vec_turn_words(const uint16_t *from, uint16_t *to, int pitch)
{
	__m128i a[8], b[8];

	for (int i = 0; i < 8; i++)
		a[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + 8 * i));
	for (int i = 0; i < 8; i += 2) {
		b[i] = _mm_unpacklo_epi16(a[i], a[i + 1]);
		b[i + 1] = _mm_unpackhi_epi16(a[i], a[i + 1]);
	}
	for (int i = 0; i < 8; i += 4)
		for (int k = 0; k < 2; k++) {
			a[i + 2 * k] = _mm_unpacklo_epi32(b[i + k], b[i + k + 2]);
			a[i + 2 * k + 1] = _mm_unpackhi_epi32(b[i + k], b[i + k + 2]);
		}
	for (int i = 0; i < 4; i++) {
		_mm_storeu_si128((__m128i *)(void *)(to + 2 * i * pitch), _mm_unpacklo_epi64(a[i], a[i + 4]));
		_mm_storeu_si128((__m128i *)(void *)(to + (2 * i + 1) * pitch),
				 _mm_unpackhi_epi64(a[i], a[i + 4]));
	}
}

static const uint8_t vec_swap_words[64] __attribute__((aligned(64))) = {
	2,  3,	0,  1,	6, 7, 4,  5,  10, 11, 8, 9, 14, 15, 12, 13, 2,	3,  0,	1,  6, 7,
	4,  5,	10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0,	1,  6,	7,  4,	5,  10, 11, 8, 9,
	14, 15, 12, 13, 2, 3, 0,  1,  6,  7,  4, 5, 10, 11, 8,	9,  14, 15, 12, 13};
static const uint8_t vec_swap_bytes[64] __attribute__((aligned(64))) = {
	1,  0,	3,  2,	5,  4,	7,  6,	9,  8,	11, 10, 13, 12, 15, 14, 1,  0,	3,  2, 5,  4,
	7,  6,	9,  8,	11, 10, 13, 12, 15, 14, 1,  0,	3,  2,	5,  4,	7,  6,	9,  8, 11, 10,
	13, 12, 15, 14, 1,  0,	3,  2,	5,  4,	7,  6,	9,  8,	11, 10, 13, 12, 15, 14};

/* Returns the least of each group of 8 bytes, in all of them. */
static inline vb vb_least8(vb v)
{
	v = vb_min(v, VEC_X86(shuffle_epi32)(v, 0xb1));
	v = vb_min(v, VEC_X86(shuffle_epi8)(v, vb_load(vec_swap_words)));
	return vb_min(v, VEC_X86(shuffle_epi8)(v, vb_load(vec_swap_bytes)));
}

/* Transposes the groups of 8 bytes of as many vectors as a vector has groups. */
static inline void vb_turn_groups(vb v[VEC_BYTES / 8])
{
	vb a[VEC_BYTES / 8];

	for (int i = 0; i < VEC_BYTES / 8; i += 2) {
		a[i] = VEC_X86(unpacklo_epi64)(v[i], v[i + 1]);
		a[i + 1] = VEC_X86(unpackhi_epi64)(v[i], v[i + 1]);
	}
#if VEC_BYTES == 16
	v[0] = a[0];
	v[1] = a[1];
#elif VEC_BYTES == 32
	for (int i = 0; i < 2; i++) {
		v[i] = VEC_X86(permute2x128_si256)(a[i], a[i + 2], 0x20);
		v[i + 2] = VEC_X86(permute2x128_si256)(a[i], a[i + 2], 0x31);
	}
#else
	vb b[8];

	for (int i = 0; i < 8; i += 4)
		for (int k = 0; k < 2; k++) {
			b[i + k] = VEC_X86(shuffle_i64x2)(a[i + k], a[i + k + 2], 0x88);
			b[i + k + 2] = VEC_X86(shuffle_i64x2)(a[i + k], a[i + k + 2], 0xdd);
		}
	for (int k = 0; k < 4; k++) {
		v[k] = VEC_X86(shuffle_i64x2)(b[k], b[k + 4], 0x88);
		v[k + 4] = VEC_X86(shuffle_i64x2)(b[k], b[k + 4], 0xdd);
	}
#endif
}

#endif
