/*
 * Transposition of words in memory, for vectors of 16 bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_TURN_WORDS_H
#define SX_CPU_VEC_VEC_TURN_WORDS_H

/* Transposes 8 by 8 words. Rows of `to` lie `pitch` words apart. */
static inline void vec_turn_words(const uint16_t *from, uint16_t *to, int pitch)
{
	vw v[8];

	for (int i = 0; i < 8; i++)
		v[i] = vw_load(from + 8 * i);
	vw_turn8(v);
	for (int i = 0; i < 8; i++)
		vw_store(to + i * pitch, v[i]);
}

#endif
