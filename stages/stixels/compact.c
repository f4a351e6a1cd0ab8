/*
 * Compaction, see compact.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/compact.h"

#include <stixel.h>

#include "stages/stixels/cells.h"

uint32_t sx_compact_offsets(const struct sx_segments *segments, int max_per_column, uint32_t *offsets)
{
	offsets[0] = 0;
	for (int u = 0; u < segments->columns; u++) {
		const int n = segments->count[u];

		offsets[u + 1] = offsets[u] + (uint32_t)(n < max_per_column ? n : max_per_column);
	}
	return offsets[segments->columns];
}

uint8_t sx_compact_flags(const struct sx_road *road, const struct sx_params *p)
{
	uint8_t flags = 0;

	if (p->road.mode == SX_ROAD_PLANE && road->origin != SX_ROAD_MEASURED)
		flags |= STIXEL_FLAG_ROAD_FALLBACK;
	if (p->stixels.method == SX_STIXEL_RDP)
		flags |= STIXEL_FLAG_RDP;
	if (sx_is_slanted(&p->stixels))
		flags |= STIXEL_FLAG_SLANTED;
	return flags;
}

static void weigh(const uint16_t *d, const uint8_t *confidence, int first, int last, struct stixel *s)
{
	uint32_t n = 0, sum = 0;

	for (int v = first; v <= last; v++) {
		if (d[v] == SX_DISPARITY_INVALID)
			continue;
		n++;
		sum += confidence ? confidence[v] : 0;
	}
	s->support = (uint16_t)n;
	s->confidence = (uint8_t)(n ? (2 * sum + n) / (2 * n) : 0);
}

void sx_compact_column(const struct sx_segments *segments, const struct sx_image *columns,
		       const struct sx_image *confidence, uint8_t flags, int u, const uint32_t *offsets,
		       struct stixel *stixels)
{
	const struct sx_segment *list = sx_segments_column(segments, u);
	const int h = columns->width, rows = segments->cell_height, bottom = segments->image_height;
	const int kept = (int)(offsets[u + 1] - offsets[u]);
	const uint8_t *c = confidence ? sx_image_row(confidence, u) : NULL;

	for (int i = 0; i < kept; i++) {
		const bool cut = i == kept - 1 && segments->count[u] > kept;
		const int top = cut ? h - 1 : list[i].v_top;
		struct stixel s = {
			.column = (uint16_t)u,
			.row_top = (uint16_t)(bottom - (top + 1) * rows),
			.row_bottom = (uint16_t)(bottom - 1 - list[i].v_bottom * rows),
			.disparity_q7 = list[i].disparity_q7,
			.slope_q14 = list[i].slope_q14,
			.kind = list[i].kind,
			.label = flags & STIXEL_FLAG_SLANTED ? list[i].label : (uint8_t)STIXEL_LABEL_NONE,
			.flags = (uint8_t)(flags | (cut ? STIXEL_FLAG_CUT : 0)),
		};

		weigh(sx_image_row(columns, u), c, list[i].v_bottom, top, &s);
		s.flags |=
			(uint8_t)sx_segment_filled(s.kind, s.support, (uint32_t)(top - list[i].v_bottom + 1));
		stixels[offsets[u] + (uint32_t)i] = s;
	}
}

uint32_t sx_compact(const struct sx_segments *segments, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_road *road, const struct sx_params *p,
		    uint32_t *offsets, struct stixel *stixels)
{
	const uint32_t n = sx_compact_offsets(segments, p->stixels.max_per_column, offsets);
	const uint8_t flags = sx_compact_flags(road, p);

	for (int u = 0; u < segments->columns; u++)
		sx_compact_column(segments, columns, confidence, flags, u, offsets, stixels);
	return n;
}
