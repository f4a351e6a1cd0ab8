/*
 * Matching costs of a frame: decides whether there is a cost volume, and which kernel fills it.
 *
 *   SGM, stored flow        cost volume
 *   SGM, recompute flow     none: each path computes the costs that it needs
 *   SGM, checkpoint flow    none: costs are recomputed wherever a path needs them
 *   FastDT                  cost volume, because its first passes work in place
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/host/engine_priv.h"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/zncc/zncc_cuda.h"

static bool cost_is_windows(const struct sx_context *x)
{
	return x->config.params.stereo.cost == SX_COST_ZNCC;
}

static bool cost_is_fastdt(const struct sx_context *x)
{
	return x->config.params.stereo.aggregation == SX_AGGREGATION_FASTDT;
}

void sx_cuda_cost_take(struct sx_context *x)
{
	const struct sx_context_config *c = &x->config;
	const size_t cells = (size_t)c->width * (size_t)c->height * (size_t)c->params.stereo.disparities;

	if (cost_is_fastdt(x))
		x->costs = sx_cuda_take(&x->memory, sx_fastdt_cuda_cost_bytes(c));
	else if (x->flow == SX_VOLUME_STORED)
		x->costs = sx_cuda_take(&x->memory, cells);
}

cudaError_t sx_cuda_cost_run(const struct sx_context *x)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;
	const struct sx_image *grey = &x->taps[SX_TAP_LEFT], *descriptors = &x->taps[SX_TAP_LEFT_CENSUS];

	if (!x->costs)
		return cudaSuccess;
	return cost_is_windows(x) ? sx_zncc_cost_cuda_run(grey, descriptors, p, x->costs, x->stream)
				  : sx_cost_cuda_run(descriptors, p, x->costs, x->stream);
}
