/*
 * The checkpoint flow, host side. Also allocates descriptors for kernels that work without a cost volume.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/checkpoint.cuh"

#include <errno.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"
#include "gpu/stereo/checkpoint_cuda.h"

#define WARPS_WANTED 8	 /* warps per multiprocessor that are wanted when rows are walked */
#define LEAST_SEGMENTS 2 /* segments of the second part, without the overlap */
#define ROUND 32	 /* columns of the widest block */

struct sx_checkpoint_cuda {
	struct sx_checkpoint_work w;
	struct sx_stereo_params p;
	struct sx_cuda_volumes volumes;
};

/* Returns true if the rows' kernel finds the winner. */
static bool finds_winner(const struct sx_context_config *c, const struct sx_stereo_params *p)
{
	return !c->keep_volume && p->disparities == 128 && p->paths <= 4 &&
	       sx_sgm_largest(p) <= SX_WINNER_NARROW;
}

static void set_penalties(struct sx_checkpoint_work *w, struct sx_cuda_memory *m,
			  const struct sx_stereo_params *p)
{
	for (int horizontal = 0; horizontal < 2; horizontal++) {
		const struct sx_penalties of = sx_sgm_penalties(p, horizontal);

		w->p1[horizontal] = of.p1;
		w->p2[horizontal] = of.p2;
	}
	if (w->rare)
		w->p2_table = sx_p2_table_upload(m, p);
}

void sx_checkpoint_describe(struct sx_checkpoint_work *w, struct sx_cuda_memory *m,
			    const struct sx_context_config *c)
{
	const struct sx_stereo_params *p = &c->params.stereo;

	w->width = c->width;
	w->height = c->height;
	w->bands = (c->height + SX_CHECKPOINT_EVERY - 1) / SX_CHECKPOINT_EVERY;
	w->segments = (c->width + SX_CHECKPOINT_EVERY - 1) / SX_CHECKPOINT_EVERY;
	w->min_disparity = p->min_disparity;
	w->beyond_is_max = p->out_of_view == SX_OUT_OF_VIEW_MAX;
	w->rare = w->beyond_is_max || p->p2_edge;
	set_penalties(w, m, p);
}

/*
 * Returns the words from the first right word that a row's pixels meet to the row's descriptors. If negative,
 * the descriptors begin before that word.
 */
static int lead_of(const struct sx_stereo_params *p)
{
	return p->disparities + p->min_disparity;
}

void sx_descriptors_cuda_take(struct sx_cuda_memory *m, struct sx_image *ret,
			      const struct sx_context_config *c)
{
	const struct sx_stereo_params *p = &c->params.stereo;
	const int lead = lead_of(p);
	const size_t early = lead < 0 ? (size_t)-lead : 0;
	/* the words that pixels meet, `early` or -`before` words behind the descriptors, begin at a whole ROUND */
	const size_t before = lead > 0 ? (size_t)lead : sx_cuda_rounded_up(early, ROUND) - early;
	const size_t width = (size_t)c->width;
	const size_t met = (size_t)p->disparities + sx_cuda_rounded_up(width, ROUND);
	const size_t own = before + sx_cuda_rounded_up(width, 4);
	const size_t pitch = sx_cuda_rounded_up((met > own ? met : own) + early, ROUND);
	const size_t words = 2 * SX_CHECKPOINT_SLACK + before + early + pitch * (size_t)c->height;
	uint32_t *at = (uint32_t *)sx_cuda_take(m, words * sizeof(*at));

	*ret = (struct sx_image){};
	ret->width = c->width;
	ret->height = c->height;
	ret->pitch = pitch * sizeof(*at);
	ret->pixel = SX_PIXEL_U32;
	if (at)
		ret->data = at + SX_CHECKPOINT_SLACK + before;
}

void sx_checkpoint_set_descriptors(struct sx_checkpoint_work *w, const struct sx_stereo_params *p,
				   const struct sx_image descriptors[2])
{
	w->left = (const uint32_t *)descriptors[0].data;
	w->left_pitch = (int)(descriptors[0].pitch / sizeof(*w->left));
	w->right = (const uint32_t *)descriptors[1].data - lead_of(p);
	w->right_pitch = (int)(descriptors[1].pitch / sizeof(*w->right));
}

/*
 * Splits each row in two parts if one part per row would give multiprocessors less than eight warps. This
 * costs one more walk to the right, and with the winner D columns twice, but each walk is about half as long.
 */
static void set_parts(struct sx_checkpoint_work *w, bool winner, int disparities, int sms)
{
	const int overlap = winner ? disparities / SX_CHECKPOINT_EVERY : 0;
	const int owned = (w->segments + overlap) / 2;

	if ((w->height + SX_CHECKPOINT_APART - 1) / SX_CHECKPOINT_APART >= WARPS_WANTED * sms ||
	    owned <= overlap + LEAST_SEGMENTS)
		return;
	w->owned = owned;
	w->second = owned - overlap;
}

/*
 * Takes all volumes as one block. The block is lent until the next frame, unless the sums are kept for
 * viewers.
 */
static void take_volumes(struct sx_checkpoint_cuda *s, struct sx_cuda_memory *m,
			 const struct sx_context_config *c, bool horizontal)
{
	struct sx_checkpoint_work *w = &s->w;
	const size_t d = (size_t)s->p.disparities, width = (size_t)c->width, height = (size_t)c->height;
	/* families of columns: vertical, diagonal */
	const int columns = s->p.paths > 4 ? 3 : s->p.paths > 2;
	/* kernels read one even if there is none */
	const size_t kept = w->bands > 1 ? (size_t)(w->bands - 1) : 1;
	const size_t volume = sx_cuda_rounded_up(width * height * d, SX_CUDA_ALIGN);
	const size_t down = sx_cuda_rounded_up(kept * width * d, SX_CUDA_ALIGN);
	const size_t leftwards = sx_cuda_rounded_up((size_t)w->segments * height * d, SX_CUDA_ALIGN);
	const size_t rightwards = sx_cuda_rounded_up(height * d, SX_CUDA_ALIGN);
	const size_t bytes = leftwards + (size_t)columns * (volume + down) + (horizontal ? volume : 0) +
			     (w->second ? rightwards : 0);
	uint8_t *at = (uint8_t *)sx_cuda_take(m, bytes);

	if (!at)
		return;
	s->volumes.path = at;
	s->volumes.path_bytes = volume;
	s->volumes.volumes = columns + horizontal;
	if (horizontal)
		w->horizontal = at, at += volume;
	if (columns)
		w->vertical = at, at += volume;
	for (int i = 0; i < columns - 1; i++)
		w->diagonal[i] = at, at += volume;
	if (columns)
		w->down = at, at += down;
	for (int i = 0; i < columns - 1; i++)
		w->down_diagonal[i] = at, at += down;
	w->leftwards = at, at += leftwards;
	if (w->second)
		w->rightwards = at;
	if (!c->keep_volume)
		sx_cuda_lend(m, (void *)(uintptr_t)s->volumes.path, bytes);
}

static cudaError_t prepare(const struct sx_checkpoint_cuda *s)
{
	cudaError_t e = sx_checkpoint_paths_prepare(&s->w, s->p.disparities);

	e = e ? e : sx_checkpoint_diagonals_prepare(&s->w, s->p.disparities);
	return e ? e : sx_checkpoint_rows_prepare(&s->w, s->p.disparities);
}

int sx_checkpoint_cuda_create(struct sx_checkpoint_cuda **ret, struct sx_cuda_memory *m,
			      const struct sx_context_config *c, int sms)
{
	const struct sx_stereo_params *p = &c->params.stereo;
	const bool winner = finds_winner(c, p);
	struct sx_checkpoint_work *w;
	struct sx_checkpoint_cuda *s;

	if (p->aggregation != SX_AGGREGATION_SGM || p->cost != SX_COST_CSCT || !sx_winner_two_fit(p))
		return -EINVAL;
	s = (struct sx_checkpoint_cuda *)calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	w = &s->w;
	s->p = c->params.stereo;
	sx_checkpoint_describe(w, m, c);
	w->scale = 1u << SX_WINNER_NARROW_SHIFT;
	w->options = sx_winner_options_of(&s->p);
	set_parts(w, winner, s->p.disparities, sms);
	take_volumes(s, m, c, !winner);
	if (m->error == cudaSuccess && !m->counting)
		m->error = prepare(s);
	if (m->error != cudaSuccess) {
		sx_checkpoint_cuda_destroy(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void sx_checkpoint_cuda_destroy(struct sx_checkpoint_cuda *s)
{
	free(s);
}

size_t sx_checkpoint_cuda_traffic(const struct sx_checkpoint_cuda *s)
{
	const struct sx_checkpoint_work *w = &s->w;
	const size_t pixels = (size_t)w->width * (size_t)w->height, d = (size_t)s->p.disparities;
	const size_t checkpoints = 2 * pixels * d / SX_CHECKPOINT_EVERY;
	const size_t descriptors = 2 * pixels * sizeof(uint32_t); /* each walk reads them */
	size_t bytes = checkpoints + 2 * descriptors;

	if (w->vertical)
		bytes += (w->diagonal[0] ? 3 : 1) * (2 * pixels * d + checkpoints + 2 * descriptors);
	if (w->horizontal)
		bytes += 2 * pixels * d;
	return bytes;
}

static struct sx_checkpoint_work work_of(const struct sx_checkpoint_cuda *s,
					 const struct sx_checkpoint_images *i)
{
	struct sx_checkpoint_work w = s->w;

	sx_checkpoint_set_descriptors(&w, &s->p, i->descriptors);
	w.grey = (const uint8_t *)i->left->data;
	w.grey_pitch = i->left->pitch;
	w.winner = (uint8_t *)i->winner->data;
	w.winner_pitch = i->winner->pitch;
	w.winner_right = (uint8_t *)i->winner_right->data;
	w.right_map_pitch = i->winner_right->pitch;
	w.confidence = (uint8_t *)i->confidence->data;
	w.confidence_pitch = i->confidence->pitch;
	return w;
}

cudaError_t sx_checkpoint_cuda_paths(const struct sx_checkpoint_cuda *s, const struct sx_checkpoint_images *i,
				     cudaStream_t stream)
{
	const struct sx_checkpoint_work w = work_of(s, i);
	const cudaError_t e = sx_checkpoint_paths_run(&w, s->p.disparities, stream);

	return e ? e : sx_checkpoint_diagonals_run(&w, s->p.disparities, stream);
}

cudaError_t sx_checkpoint_cuda_winner(const struct sx_checkpoint_cuda *s,
				      const struct sx_checkpoint_images *i, cudaStream_t stream)
{
	const struct sx_checkpoint_work w = work_of(s, i);
	const cudaError_t e = sx_checkpoint_rows_run(&w, s->p.disparities, stream);

	return e || !w.horizontal ? e
				  : sx_winner_cuda_run(&s->volumes, &s->p, i->winner, i->winner_right,
						       i->confidence, stream);
}

const struct sx_cuda_volumes *sx_checkpoint_cuda_volumes(const struct sx_checkpoint_cuda *s)
{
	return s->w.horizontal ? &s->volumes : NULL;
}
