/*
 * Sizes, tables and memory of the matcher's kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/matcher.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernel_sets.h"
#include "stages/stereo/sgm.h"

/* bytes of cost and E in a band; leaves room in a second-level cache of 1 MB */
#define BAND_BYTES (768 * 1024)
#define BAND_COLUMNS_MAX 32
#define FASTDT_COSTS 4 /* pixels whose costs fastdt_row() computes at a time */

/* Returns the limit of S for rivals of S0: S(k) is a rival if 100 S0 >= uniqueness * S(k). */
static int rival_above(const struct sx_stereo_params *p, int s0)
{
	return 100 * s0 / p->uniqueness + 1;
}

/* bits of CSCT; one is the same in all descriptors, so each similarity is at least 1 */
#define SIMILARITY_BITS 32

/* Returns true if sums of similarities of two paths fit bytes. */
static bool similarities_fit(const struct sx_stereo_params *p)
{
	int along = p->p2 + SIMILARITY_BITS, across = p->p2_vertical + SIMILARITY_BITS;

	return p->aggregation == SX_AGGREGATION_SGM && !sx_is_pyramid(p) && p->cost == SX_COST_CSCT &&
	       p->paths == 4 && p->p2_edge == 0 && p->out_of_view == SX_OUT_OF_VIEW_ZERO &&
	       p->disparities <= SX_MATCHER_SIMILARITY_DISPARITIES && 2 * along <= UINT8_MAX &&
	       2 * across <= UINT8_MAX;
}

static enum sx_volume volume_kind(const struct sx_stereo_params *p)
{
	int stored = p->paths - 2;

	if (stored == 0)
		return SX_VOLUME_NONE;
	if (similarities_fit(p))
		return SX_VOLUME_SIMILARITY;
	return stored * p->p2_vertical <= UINT8_MAX ? SX_VOLUME_BYTES : SX_VOLUME_WORDS;
}

static int band_columns(const struct sx_matcher *m)
{
	size_t column = 2 * (size_t)m->height * (size_t)m->p.disparities;
	int n;

	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		return SX_MATCHER_SIMILARITY_COLUMNS;
	n = (int)(BAND_BYTES / column) / 4 * 4;

	return n < 4 ? 4 : n > BAND_COLUMNS_MAX ? BAND_COLUMNS_MAX : n;
}

static int descriptor_bits(enum sx_cost cost)
{
	if (cost == SX_COST_ZNCC)
		return 0; /* zncc costs are stored */
	return cost == SX_COST_CSCT ? 32 : cost == SX_COST_CENSUS48 ? 48 : 64;
}

/* Makes the mask out_of_view. Byte j of a plane belongs to right column width - 1 - min_disparity - j. */
static int make_out_of_view(struct sx_matcher *m)
{
	uint8_t *memory = aligned_alloc(SX_MATCHER_ALIGNMENT, m->plane_pitch + 2 * SX_MATCHER_MARGIN);

	if (!memory)
		return -ENOMEM;
	memset(memory, 0, m->plane_pitch + 2 * SX_MATCHER_MARGIN);
	m->out_of_view = memory + SX_MATCHER_MARGIN;
	for (size_t j = 0; j < m->plane_pitch; j++) {
		int x = m->width - 1 - m->p.min_disparity - (int)j;

		m->out_of_view[j] = x >= 0 && x < m->width ? 0 : 0xff;
	}
	return 0;
}

/* Returns the greatest S, or the greatest sum of similarities. */
static int sum_most(const struct sx_matcher *m)
{
	return m->volume_kind == SX_VOLUME_SIMILARITY ? m->similarity_most : sx_sgm_largest(&m->p);
}

static int make_rival_limit(struct sx_matcher *m)
{
	int most = sum_most(m);

	m->rival_limit = malloc(((size_t)most + 1) * sizeof(*m->rival_limit));
	if (!m->rival_limit)
		return -ENOMEM;
	for (int s0 = 0; s0 <= most; s0++) {
		int limit = rival_above(&m->p, s0);

		if (m->volume_kind == SX_VOLUME_SIMILARITY) {
			m->rival_limit[most - s0] = (uint16_t)(limit < most ? most - limit : 0);
			continue;
		}
		m->rival_limit[s0] =
			limit << m->word_bits < INT16_MAX ? (uint16_t)(limit << m->word_bits) : INT16_MAX;
	}
	return 0;
}

/* Fills in the places of disparities among interleaved vectors of k bytes. */
static void make_similarities(struct sx_matcher *m, int k)
{
	int last = m->p.disparities - 1;

	m->residues = m->p.disparities / k;
	m->plane_pitch = sx_matcher_padded((size_t)(m->width + m->p.disparities) / (size_t)m->residues + 1);
	m->similarity_most = 4 * SIMILARITY_BITS + 2 * m->p.p2 + 2 * m->p.p2_vertical;
	for (int d = 0; d <= last; d++) {
		int place = d % m->residues * k + d / m->residues;

		m->similarity_place[d + 1] = (uint8_t)place;
		m->similarity_rank[place] = (uint8_t)(127 - d);
	}
	m->similarity_place[0] = m->similarity_place[1];
	m->similarity_place[last + 2] = m->similarity_place[last + 1];
}

static bool is_fastdt(const struct sx_matcher *m)
{
	return m->p.aggregation == SX_AGGREGATION_FASTDT;
}

static void make_weights(struct sx_matcher *m)
{
	struct sx_fastdt_weights w;

	sx_fastdt_weights_init(&w, &m->p);
	for (int i = 0; i < 256; i++)
		m->weights[i] = w.fixed[i];
	m->uniqueness_inverse =
		((UINT64_C(1) << 40) + (uint64_t)m->p.uniqueness - 1) / (uint64_t)m->p.uniqueness;
	assert(m->p.fastdt != SX_FASTDT_INT8 || sx_fastdt_lowest(m) >= -2048);
}

int sx_matcher_init(struct sx_matcher *m, const struct sx_matcher_kernels *k,
		    const struct sx_stereo_params *p, int width, int height)
{
	int r = 0;

	*m = (struct sx_matcher){.kernels = k, .p = *p, .width = width, .height = height};
	m->cost_max = sx_cost_max(p->cost);
	for (int edge = 0; edge < 256; edge++)
		for (int horizontal = 0; horizontal < 2; horizontal++)
			m->edge_p2[horizontal][edge] = (uint8_t)sx_sgm_p2(p, horizontal, edge);
	m->volume_kind = volume_kind(p);
	m->word_bits = p->paths == 8 ? 3 : 4;
	m->planes = descriptor_bits(p->cost) / k->plane_bits;
	m->plane_pitch = sx_matcher_padded((size_t)width + (size_t)p->disparities);
	m->residues = 1;
	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		make_similarities(m, k->bytes);
	m->band_columns = band_columns(m);
	if (p->out_of_view == SX_OUT_OF_VIEW_MAX)
		r = make_out_of_view(m);
	if (is_fastdt(m))
		make_weights(m);
	else if (r == 0)
		r = make_rival_limit(m);
	if (r < 0)
		sx_matcher_finish(m);
	return r;
}

void sx_matcher_finish(struct sx_matcher *m)
{
	if (m->out_of_view)
		free(m->out_of_view - SX_MATCHER_MARGIN);
	free(m->rival_limit);
	*m = (struct sx_matcher){0};
}

size_t sx_matcher_bytes(const struct sx_matcher *m)
{
	size_t sums = (size_t)sum_most(m) + 1;

	return (m->out_of_view ? m->plane_pitch + 2 * SX_MATCHER_MARGIN : 0) +
	       (m->rival_limit ? sums * sizeof(*m->rival_limit) : 0);
}

int sx_matcher_dense_rows(const struct sx_matcher *m)
{
	return m->p.cost == SX_COST_ZNCC ? SX_SEARCH_TILE_HEIGHT : 1;
}

size_t sx_matcher_volume_bytes(const struct sx_matcher *m)
{
	size_t cells = (size_t)m->width * (size_t)m->height * (size_t)m->p.disparities;

	if (is_fastdt(m))
		return sx_fastdt_volume_bytes(m);
	return m->volume_kind == SX_VOLUME_NONE ? 0 : m->volume_kind == SX_VOLUME_WORDS ? 2 * cells : cells;
}

size_t sx_matcher_costs_bytes(const struct sx_matcher *m)
{
	size_t cells = (size_t)m->width * (size_t)m->height * (size_t)m->p.disparities;

	return m->p.cost == SX_COST_ZNCC ? cells : 0;
}

size_t sx_matcher_planes_bytes(const struct sx_matcher *m)
{
	return sx_matcher_padded((size_t)m->height * (size_t)(m->residues * m->planes) * m->plane_pitch +
				 SX_MATCHER_MARGIN);
}

static size_t turned_bytes(const struct sx_matcher *m)
{
	return m->volume_kind == SX_VOLUME_SIMILARITY ? (size_t)m->residues * m->plane_pitch : 0;
}

/* Returns the number of rows that a worker processes together. */
static int rows_together(const struct sx_matcher *m)
{
	return m->volume_kind == SX_VOLUME_SIMILARITY ? SX_MATCHER_SIMILARITY_ROWS : 1;
}

int sx_matcher_row_tasks(const struct sx_matcher *m)
{
	return (m->height + rows_together(m) - 1) / rows_together(m);
}

int sx_matcher_bands(const struct sx_matcher *m, enum sx_shear shear)
{
	int columns = m->width + (shear == SX_SHEAR_DOWN ? 0 : m->height - 1);

	return (columns + m->band_columns - 1) / m->band_columns;
}

void sx_matcher_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, enum sx_shear shear, int i,
		     bool first, struct sx_matcher_scratch *s)
{
	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		m->kernels->similarity_band(m, f, i, s);
	else
		m->kernels->sgm_band(m, f, shear, i, first, s);
}

void sx_matcher_rows_begin(const struct sx_matcher *m, const struct sx_matcher_frame *f)
{
	for (int i = 0; m->volume_kind == SX_VOLUME_SIMILARITY && i < sx_matcher_row_tasks(m); i++)
		atomic_store_explicit(&f->up.walked[i].columns, 0, memory_order_relaxed);
}

void sx_matcher_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
		     struct sx_matcher_scratch *s)
{
	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		m->kernels->similarity_rows(m, f, i, s);
	else
		m->kernels->winner_row(m, f, i, s);
}

/* Takes 4-byte values, with room for window / 2 more values before them and a vector after them. */
static void *matcher_take_values(uint8_t *memory, size_t *used, const struct sx_matcher *m, size_t values)
{
	size_t before = sx_matcher_padded((size_t)(m->p.zncc_window / 2) * sizeof(int32_t));
	uint8_t *p = sx_matcher_take(memory, used, before + values * sizeof(int32_t) + SX_MATCHER_MARGIN);

	return p ? p + before : NULL;
}

static void matcher_lay_out_zncc(struct sx_matcher_zncc *z, const struct sx_matcher *m, uint8_t *memory,
				 size_t *used)
{
	size_t window = (size_t)m->p.zncc_window, disparities = (size_t)m->p.disparities;
	size_t width = (size_t)m->width + window,
	       turned = width + disparities; /* width with the window's overhang */
	size_t terms = window / 2 + 1, products = window > 3 ? width * disparities : 0;

	z->column_sum = matcher_take_values(memory, used, m, width);
	z->column_square = matcher_take_values(memory, used, m, width);
	z->sum = matcher_take_values(memory, used, m, width);
	z->variance = matcher_take_values(memory, used, m, width);
	z->left_pitch = width;
	z->left = matcher_take_values(memory, used, m, terms * z->left_pitch);
	z->right_pitch = turned;
	z->right = matcher_take_values(memory, used, m, terms * z->right_pitch);
	z->left_sum = matcher_take_values(memory, used, m, width);
	z->right_sum = matcher_take_values(memory, used, m, turned);
	z->left_inverse = matcher_take_values(memory, used, m, width);
	z->right_inverse = matcher_take_values(memory, used, m, turned);
	z->window = sx_matcher_take(memory, used, 2 * disparities * sizeof(int32_t));
	z->products = sx_matcher_take(memory, used, products * sizeof(int32_t));
	if (z->products)
		z->products += window / 2 * disparities;
	z->tile = sx_matcher_take(memory, used, SX_MATCHER_TILE * disparities);
}

static size_t lay_out_up(struct sx_matcher_up *up, const struct sx_matcher *m, uint8_t *memory)
{
	size_t used = 0, width = (size_t)m->width, tasks = (size_t)sx_matcher_row_tasks(m);

	up->similarity = sx_matcher_take(memory, &used, width * (size_t)m->p.disparities);
	up->least = sx_matcher_take(memory, &used, width);
	up->walked = sx_matcher_take(memory, &used, tasks * sizeof(*up->walked));
	return used;
}

size_t sx_matcher_maps_bytes(const struct sx_matcher *m)
{
	struct sx_matcher_up up;

	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		return lay_out_up(&up, m, NULL);
	return is_fastdt(m) ? sx_fastdt_maps_bytes(m) : 0;
}

void sx_matcher_maps_init(struct sx_matcher_frame *f, const struct sx_matcher *m, uint8_t *memory)
{
	if (m->volume_kind == SX_VOLUME_SIMILARITY)
		lay_out_up(&f->up, m, memory);
	else if (is_fastdt(m))
		sx_fastdt_maps_init(&f->maps, m, memory);
}

static size_t matcher_lay_out_fastdt(struct sx_matcher_scratch *s, const struct sx_matcher *m,
				     uint8_t *memory)
{
	size_t used = 0;

	s->bytes = sx_matcher_take(memory, &used, 8 * ((size_t)m->width + SX_MATCHER_MARGIN));
	s->row_cost = sx_matcher_take(memory, &used, FASTDT_COSTS * (size_t)m->p.disparities);
	if (m->p.cost == SX_COST_ZNCC)
		matcher_lay_out_zncc(&s->zncc, m, memory, &used);
	return used + sx_fastdt_scratch_lay_out(&s->fastdt, m, memory ? memory + used : NULL);
}

/* Lays out what pyramid search uses of the matcher: descriptors and costs of all disparities (cpu/pyramid/). */
static size_t lay_out_search(struct sx_matcher_scratch *s, const struct sx_matcher *m, uint8_t *memory)
{
	const size_t row = (size_t)m->width * (size_t)m->p.disparities;
	size_t used = 0;

	s->bytes = sx_matcher_take(memory, &used, 8 * ((size_t)m->width + SX_MATCHER_MARGIN));
	s->row_cost =
		sx_matcher_take(memory, &used, (size_t)sx_matcher_dense_rows(m) * row + SX_MATCHER_MARGIN);
	if (m->p.cost == SX_COST_ZNCC)
		matcher_lay_out_zncc(&s->zncc, m, memory, &used);
	return used;
}

static size_t matcher_lay_out(struct sx_matcher_scratch *s, const struct sx_matcher *m, uint8_t *memory)
{
	size_t width = (size_t)m->width, disparities = (size_t)m->p.disparities,
	       block = (size_t)1 << m->word_bits;
	size_t band = m->volume_kind == SX_VOLUME_NONE ? 0 : (size_t)m->band_columns;
	size_t band_cells = band * (size_t)m->height * disparities;
	size_t right = (width + disparities + SX_MATCHER_MARGIN) * sizeof(uint16_t);
	size_t rows = (size_t)rows_together(m), turned = turned_bytes(m), used = 0;

	bool similarities = m->volume_kind == SX_VOLUME_SIMILARITY;

	s->memory = memory;
	if (is_fastdt(m))
		return matcher_lay_out_fastdt(s, m, memory);
	if (sx_is_pyramid(&m->p))
		return lay_out_search(s, m, memory);
	s->bytes = sx_matcher_take(memory, &used, 8 * (width + SX_MATCHER_MARGIN));
	s->turned = sx_matcher_take(memory, &used, turned);
	s->cost = sx_matcher_take(memory, &used, similarities ? 4 * disparities : band_cells);
	s->down = sx_matcher_take(memory, &used, similarities ? 0 : band_cells);
	s->state = sx_matcher_take(memory, &used, 2 * band * sx_matcher_state_pitch(m));
	s->row_cost = sx_matcher_take(memory, &used, rows * width * disparities);
	s->row_right = sx_matcher_take(memory, &used, rows * width * disparities);
	s->block_left = sx_matcher_take(memory, &used, 2 * block * disparities);
	s->block_sum = sx_matcher_take(memory, &used, 2 * block * sx_matcher_sum_pitch(m) * sizeof(uint16_t));
	s->right_sum = sx_matcher_take(memory, &used, right);
	s->right_x = sx_matcher_take(memory, &used, rows * right);
	s->s0 = sx_matcher_take(memory, &used, rows * width * sizeof(uint16_t));
	s->side_low = sx_matcher_take(memory, &used, rows * width * sizeof(uint16_t));
	s->side_high = sx_matcher_take(memory, &used, rows * width * sizeof(uint16_t));
	s->d0 = sx_matcher_take(memory, &used, rows * width * sizeof(uint16_t));
	if (m->p.cost == SX_COST_ZNCC)
		matcher_lay_out_zncc(&s->zncc, m, memory, &used);
	return used;
}

size_t sx_matcher_scratch_bytes(const struct sx_matcher *m)
{
	struct sx_matcher_scratch s;

	return matcher_lay_out(&s, m, NULL);
}

void sx_matcher_scratch_init(struct sx_matcher_scratch *s, const struct sx_matcher *m, uint8_t *memory)
{
	size_t words = ((size_t)2 << m->word_bits) * sx_matcher_sum_pitch(m);

	matcher_lay_out(s, m, memory);
	if (is_fastdt(m) || sx_is_pyramid(&m->p))
		return;
	memset(s->turned, 0, turned_bytes(m));
	for (size_t i = 0; i < words; i++) /* the margins keep these values */
		s->block_sum[i] = INT16_MAX;
}
