/*
 * Sky, see sky.h. stages/stixels/sky.h defines the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/sky.h"

#include <string.h>

#include "cpu/kernel_sets.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/evidence.h"
#include "stages/stixels/sky.h"
#include "stages/stixels/sky_bits.h"

void sx_sky_pack(const uint8_t *bright, int n, uint32_t *blank)
{
	for (int w = 0; w < sx_sky_words(n); w++) {
		const int count = n - 32 * w < 32 ? n - 32 * w : 32;

		blank[w] = 0;
		for (int i = 0; i < count; i++)
			blank[w] |= (uint32_t)(bright[32 * w + i] & SX_CELL_BLANK) << i;
	}
}

/* Spreads sky downwards. edge: sky may begin above the highest row. */
static void go_down(const uint32_t *blank, int rows, int words, bool edge, uint32_t *sky)
{
	uint32_t open[SX_SKY_WORDS_MAX], gap[SX_SKY_WORDS_MAX];

	memset(open, edge ? 0xff : 0, (size_t)words * sizeof(*open));
	memset(gap, 0, (size_t)words * sizeof(*gap));
	for (int v = rows - 1; v >= 0; v--)
		for (int w = 0; w < words; w++)
			sky[v * words + w] =
				sx_sky_down(blank[v * words + w], sky[v * words + w], &open[w], &gap[w]);
}

static void go_along(const uint32_t *blank, int words, uint32_t *sky)
{
	uint32_t carry = 0;

	for (int w = 0; w < words; w++) {
		sky[w] = sx_sky_rightwards(blank[w], sky[w] | (blank[w] & carry));
		carry = sky[w] >> 31;
	}
	carry = 0;
	for (int w = words - 1; w >= 0; w--) {
		sky[w] = sx_sky_leftwards(blank[w], sky[w] | (blank[w] & carry));
		carry = sky[w] << 31;
	}
}

void sx_sky_spread(const uint32_t *blank, int rows, int words, uint32_t *sky)
{
	memset(sky, 0, (size_t)rows * (size_t)words * sizeof(*sky));
	go_down(blank, rows, words, true, sky);
	for (int i = 0; i < SX_SKY_ROUNDS; i++) {
		for (int v = 0; v < rows; v++)
			go_along(blank + v * words, words, sky + v * words);
		go_down(blank, rows, words, false, sky);
	}
}

/* Returns the mask of columns u0 .. u1 - 1 in word w. */
static uint32_t bits_of(int w, int u0, int u1)
{
	const int from = u0 > 32 * w ? u0 - 32 * w : 0, to = u1 < 32 * w + 32 ? u1 - 32 * w : 32;

	return (to < 32 ? (1u << to) - 1 : ~0u) & ~((1u << from) - 1);
}

void sx_sky_weigh(const uint32_t *sky, int words, const struct sx_params *p, const struct sx_road *road,
		  int height, int u0, int u1, struct sx_image *cells, struct sx_image *cells_confidence)
{
	const int32_t rise = sx_sky_rise_q8(road->slope, sx_sky_metres(&p->camera));
	const int rows = sx_cell_height(&p->stixels), width = p->stixels.width;

	for (int v = 0; v < cells->width; v++) {
		const int32_t axis = sx_road_row_ground_q4(road, height - 1 - v * rows);

		for (int w = u0 / 32; w <= (u1 - 1) / 32; w++) {
			uint32_t bits = sky[v * words + w] & bits_of(w, u0, u1);

			for (; bits; bits &= bits - 1) {
				const int u = 32 * w + __builtin_ctz(bits);
				const int32_t shift = sx_road_shift_q4(road->cross, road->axis, u, width);
				uint16_t *d = (uint16_t *)sx_image_row(cells, u) + v;

				if (!sx_sky_is_above(axis + shift, *d, rise))
					continue;
				*d = 0;
				((uint8_t *)sx_image_row(cells_confidence, u))[v] = SX_SKY_CONFIDENCE;
			}
		}
	}
}
